//! `retrystorm draws`.

use std::fs::File;
use std::io::{self, BufRead as _, BufReader, ErrorKind, Write as _};
use std::path::Path;
use std::sync::Arc;

use sim::{Draw, Tape};

use crate::cli::draws::Draws;
use crate::error::{Error, exit};
use crate::input::Input;
use crate::shipped::Folder;

const HEADER: &str = "draw,time_ns,purpose,of,value";

pub(super) fn draws(draws: &Draws) -> Result<u8, Error> {
    let input = Input::open(&draws.file, Folder::Models)?;
    let overrides = super::run::parsed(&draws.overrides)?;
    let scenario = Arc::new(input.load(&overrides)?.scenario);
    let tape = Tape::new(&scenario, draws.seed.unwrap_or(scenario.run.seed));
    match &draws.against {
        Some(earlier) => against(tape, earlier),
        None => print(tape, draws.first.unwrap_or(u64::MAX)),
    }
}

/// Prints as the world runs: a tape may be longer than memory.
fn print(tape: Tape, first: u64) -> Result<u8, Error> {
    let mut out = io::BufWriter::new(io::stdout().lock());
    let lines = tape.take_while(|draw| draw.number <= first);
    let written = writeln!(out, "{HEADER}").and_then(|()| {
        for draw in lines {
            writeln!(out, "{}", line(&draw))?;
        }
        out.flush()
    });
    match written {
        Err(e) if e.kind() != ErrorKind::BrokenPipe => {
            Err(Error::io("write to", "standard output")(e))
        }
        _ => Ok(exit::OK),
    }
}

fn line(draw: &Draw) -> String {
    let Draw { number, at, .. } = draw;
    let (purpose, of, value) = (draw.purpose.name(), &draw.of, draw.value);
    format!("{number},{},{purpose},{of},{value:016x}", at.0)
}

/// Compares with the tape in a file, line by line, up to the first difference.
fn against(tape: Tape, earlier: &Path) -> Result<u8, Error> {
    let file = File::open(earlier).map_err(Error::io("read", earlier))?;
    let mut lines = BufReader::new(file).lines();
    let mut next = || lines.next().transpose().map_err(Error::io("read", earlier));
    if next()?.as_deref() != Some(HEADER) {
        let shown = earlier.display();
        return Err(Error::Usage(format!(
            "{shown}: not a tape of `retrystorm draws`; its first line should be {HEADER}"
        )));
    }
    let mut before = String::from("(the beginning)");
    let mut same = 0u64;
    for draw in tape {
        let now = line(&draw);
        match next()? {
            Some(then) if then == now => {
                (before, same) = (now, draw.number);
            }
            then => return differs(same, &before, then.as_deref(), Some(&now)),
        }
    }
    if let Some(then) = next()? {
        return differs(same, &before, Some(&then), None);
    }
    super::print(&format!("all {same} draws are the same\n"))?;
    Ok(exit::OK)
}

fn differs(same: u64, before: &str, then: Option<&str>, now: Option<&str>) -> Result<u8, Error> {
    const OVER: &str = "(no further draw)";
    super::print(&format!(
        "draw {} is the first that differs; {same} before it are the same\n  \
         before it  {before}\n  on tape    {}\n  now        {}\n",
        same + 1,
        then.unwrap_or(OVER),
        now.unwrap_or(OVER),
    ))?;
    Ok(exit::BROKEN)
}
