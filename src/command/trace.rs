//! `retrystorm trace`.

use std::sync::Arc;

use crate::cli::Talk;
use crate::cli::trace::{Pick, Trace, TraceFormat};
use crate::error::{Error, exit};
use crate::input::Input;
use crate::report::file;
use crate::report::style::Style;
use crate::shipped::Folder;
use crate::trace::find::{Found, numbered, picked};
use crate::trace::span::Span;
use crate::trace::{otlp, perfetto, terminal};

pub(super) fn trace(trace: &Trace, talk: Talk) -> Result<u8, Error> {
    let input = Input::open(&trace.file, Folder::Models)?;
    let overrides = super::run::parsed(&trace.overrides)?;
    let scenario = Arc::new(input.load(&overrides)?.scenario);
    let seed = trace.seed.unwrap_or(scenario.run.seed);
    let found: Found = match trace.call {
        Some(number) => numbered(&scenario, seed, number).map_err(|there_are| {
            Error::Usage(format!(
                "--call {number}: clients began only {there_are} calls in {}",
                input.name
            ))
        })?,
        None => picked(&scenario, seed, trace.pick).ok_or_else(|| {
            Error::Usage(format!("{}: no call {}", input.name, wanted(trace.pick)))
        })?,
    };
    let span = Span::of(&scenario, &found.call);
    let text = match trace.format {
        TraceFormat::Text => {
            let style = match trace.out {
                None => Style::of_stdout(talk.no_color),
                Some(_) => Style::default(),
            };
            terminal::timeline(&input.name, seed, &found, &span, style)
        }
        TraceFormat::Otlp => otlp::export(&input.name, seed, found.number, &span),
        TraceFormat::Perfetto => perfetto::events(&span),
    };
    match &trace.out {
        None => super::print(&text)?,
        Some(path) => file::write(path, text.as_bytes())?,
    }
    Ok(exit::OK)
}

const fn wanted(pick: Pick) -> &'static str {
    match pick {
        Pick::MostAttempts | Pick::Slowest => "ended",
        Pick::Failed => "failed",
        Pick::Saved => "ended well after a retry",
    }
}
