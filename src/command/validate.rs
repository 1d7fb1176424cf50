//! `retrystorm validate`.

use rayon::ThreadPoolBuilder;
use sim::scenario::nearest;

use crate::cli::Talk;
use crate::cli::validate::{FindingFormat, Validate};
use crate::error::{Error, exit};
use crate::interrupt;
use crate::replicate;
use crate::report::style::Style;
use crate::validate::case::Case;
use crate::validate::run::{self, Finding};
use crate::validate::{self, quick, report};

pub(super) fn validate(asked: &Validate, talk: Talk) -> Result<u8, Error> {
    let cases = chosen(asked)?;
    if asked.show {
        return show(&cases);
    }
    let style = Style::of_stdout(talk.no_color);
    let live = asked.format == FindingFormat::Text && !talk.quiet;
    let jobs = replicate::threads(asked.jobs);
    let pool = ThreadPoolBuilder::new()
        .num_threads(jobs)
        .build()
        .map_err(|e| Error::Usage(format!("cannot start {jobs} threads: {e}")))?;

    interrupt::listen();
    if live {
        super::print(&report::header(style))?;
    }
    let mut findings: Vec<Finding> = Vec::new();
    for case in &cases {
        let Some(finding) = pool.install(|| run::run(case, asked.seed)) else {
            break;
        };
        if live {
            super::print(&report::text(&finding, style, asked.brief))?;
        }
        findings.push(finding);
    }
    match asked.format {
        FindingFormat::Text if live => {
            super::print(&report::total(&findings, cases.len(), style))?;
        }
        FindingFormat::Text => {}
        FindingFormat::Json => super::print(&report::json(&findings))?,
        FindingFormat::Csv => super::print(&report::csv(&findings))?,
        FindingFormat::Markdown => super::print(&report::markdown(&findings))?,
    }
    Ok(if findings.len() < cases.len() {
        exit::INTERRUPTED
    } else if findings.iter().all(Finding::passed) {
        exit::OK
    } else {
        exit::BROKEN
    })
}

/// The cases that were asked for, by name or by family.
fn chosen(asked: &Validate) -> Result<Vec<Case>, Error> {
    let all = Case::all();
    for name in &asked.cases {
        if !all
            .iter()
            .any(|case| case.id == *name || case.family == *name)
        {
            let mut families: Vec<&str> = all.iter().map(|case| case.family.as_str()).collect();
            families.sort_unstable();
            families.dedup();
            let known = all
                .iter()
                .map(|case| case.id.as_str())
                .chain(families.clone());
            let hint = match nearest(name, known) {
                Some(near) => format!("did you mean `{near}`?"),
                None => format!("families: {}", families.join(", ")),
            };
            return Err(Error::Usage(format!(
                "no reference case and no family is called `{name}`; {hint}"
            )));
        }
    }
    let wanted = |case: &Case| match asked.cases.as_slice() {
        [] => asked.full || quick::CASES.contains(&case.id.as_str()),
        names => names
            .iter()
            .any(|name| case.id == *name || case.family == *name),
    };
    Ok(all.into_iter().filter(wanted).collect())
}

fn show(cases: &[Case]) -> Result<u8, Error> {
    for case in cases {
        match validate::plan(case, 1.0) {
            Err(feature) => super::print(&format!("# {}: missing: {feature}\n\n", case.id))?,
            Ok(plan) => {
                for experiment in &plan.experiments {
                    let what = match (&experiment.text, experiment.variant.as_str()) {
                        (None, _) => format!("# {}: uses the library directly\n", case.id),
                        (Some(text), "") => text.clone(),
                        (Some(text), variant) => format!("# {variant}\n{text}"),
                    };
                    super::print(&format!("{what}\n"))?;
                }
            }
        }
    }
    Ok(exit::OK)
}
