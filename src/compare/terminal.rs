//! A comparison for people: which world is better, the curves, the figures with their intervals.

use std::path::Path;

use sim::verdict::Trigger;

use super::difference::{Difference, Verdict};
use super::run::{Comparison, Ran};
use super::{finding, picture};
use crate::figure::Scope;
use crate::figure::column::Unit;
use crate::number;
use crate::plot::over_time::largest;
use crate::plot::panel::Spread;
use crate::report::sparkline::{marks, sparkline};
use crate::report::style::Style;
use crate::report::table::cut;
use crate::report::table::{Align, Table, width, wrapped};
use crate::report::{certainty, written};

/// Nothing is printed beyond this column.
const COLUMNS: usize = 100;
/// Characters of a sparkline.
const LINE: usize = 56;
/// Names of worlds are cut to this.
const NAME_MAX: usize = 22;
/// Services beyond these are left to the files.
const SERVICES_MAX: usize = 6;

const NOTE: &str = "Worlds meet the same seeds, so differences are paired. Each interval holds by itself in 95 of \
100 cases: of 20 figures that do not differ, one looks as if it did (docs/statistics.md).";

/// The summary; `files` are the folder and the files in it.
#[must_use]
pub fn summary(
    comparison: &Comparison,
    differences: &[Vec<Difference>],
    style: Style,
    files: Option<(&Path, &[String])>,
) -> String {
    let mut out = String::new();
    let mut line = |text: &str| {
        out.push_str(text.trim_end());
        out.push('\n');
    };
    let base = comparison.base();
    let others: Vec<&str> = comparison.worlds[1..]
        .iter()
        .map(|w| w.name.as_str())
        .collect();
    for text in wrapped(
        &format!("{} against {}", others.join(", "), base.name),
        COLUMNS,
    ) {
        line(&style.bold(&text));
    }
    line(&style.dim(&format!(
        "{} · the same arrivals and work in every world",
        picture::setup(comparison)
    )));
    line("");
    for (world, differences) in comparison.worlds[1..].iter().zip(differences) {
        let sentence = finding::sentence(base, world, differences);
        for (i, text) in wrapped(&sentence, COLUMNS - 2).iter().enumerate() {
            let lead = if i == 0 {
                tone(style, differences)
            } else {
                "  ".into()
            };
            line(&format!("{lead}{}", style.bold(text)));
        }
    }
    for text in finding::cut_short(comparison) {
        line(&style.warn(&format!("▌ {text}")));
    }
    let warmup = certainty::warmup(&comparison.warmup, &base.scenario, style, COLUMNS);
    warmup.iter().for_each(|text| line(text));
    if comparison.interrupted() {
        let (done, asked) = (comparison.seeds.len(), comparison.asked);
        line(&style.warn(&format!(
            "▌ interrupted: {done} of {asked} replications were finished"
        )));
    }
    line("");
    curves(comparison, style, &mut line);
    let names = names(comparison);
    for (world, name) in comparison.worlds.iter().zip(&names) {
        line(&format!("  {name}  {}", finding::fate(world)));
    }
    for (world, differences) in comparison.worlds[1..].iter().zip(differences) {
        line("");
        figures(base, world, differences, style, &mut line);
    }
    line("");
    for text in wrapped(NOTE, COLUMNS - 2) {
        line(&style.dim(&format!("  {text}")));
    }
    if let Some((folder, files)) = files {
        line("");
        let lines = written::lines(folder, files, style);
        lines.iter().for_each(|text| line(text));
    }
    out
}

fn count(differences: &[Difference], verdict: Verdict) -> usize {
    let keys = differences.iter().filter(|d| finding::key(d));
    keys.filter(|d| d.verdict == verdict).count()
}

fn tone(style: Style, differences: &[Difference]) -> String {
    let better = count(differences, Verdict::Better);
    match (better, count(differences, Verdict::Worse)) {
        (0, 0) => style.dim("▌ "),
        (_, 0) => style.good("▌ "),
        (0, _) => style.bad("▌ "),
        _ => style.warn("▌ "),
    }
}

/// The names of the worlds, equally wide.
fn names(comparison: &Comparison) -> Vec<String> {
    let names: Vec<String> = comparison
        .worlds
        .iter()
        .map(|w| cut(&w.name, NAME_MAX))
        .collect();
    let widest = names.iter().map(|n| width(n)).max().unwrap_or(0);
    let pad = |name: &String| format!("{name}{}", " ".repeat(widest - width(name)));
    names.iter().map(pad).collect()
}

/// What is drawn of a world.
type Curve<'a> = &'a dyn Fn(&Ran) -> Vec<Spread>;
/// Puts text into a style's colour.
type Dress = fn(Style, &str) -> String;

/// Goodput of every world on one scale, then attempts on another.
fn curves(comparison: &Comparison, style: Style, line: &mut impl FnMut(&str)) {
    let names = names(comparison);
    let indent = " ".repeat(width(&names[0]));
    let run = &comparison.base().scenario.run;
    let seconds = run.duration.as_secs_f64();
    let service = picture::busiest(comparison).unwrap_or_default();
    let at = format!("attempts at {service}");
    let attempts = |world: &Ran| picture::attempts(world, service);
    let sections: [(&str, Curve<'_>, Dress); 2] = [
        ("goodput", &picture::goodput, Style::goodput),
        (&at, &attempts, Style::attempts),
    ];
    for (title, of, dress) in sections {
        let points: Vec<Vec<Spread>> = comparison.worlds.iter().map(of).collect();
        let max = largest(&points);
        let longest = points.iter().map(Vec::len).max().unwrap_or(0);
        let characters = LINE.min(longest);
        let end = number::duration(seconds);
        let least = width(&end) + 2;
        let room = characters.saturating_sub(width(title)).max(least);
        line(&format!(
            "  {indent}  {}",
            style.dim(&format!("{title}{end:>room$}"))
        ));
        for (name, points) in names.iter().zip(&points) {
            let values: Vec<Option<f64>> = points.iter().map(|p| p.mean).collect();
            let tenth = &values[values.len() - values.len().div_ceil(10)..];
            let known: Vec<f64> = tenth.iter().flatten().copied().collect();
            let last = match known.len() {
                0 => String::new(),
                n => number::rate(known.iter().sum::<f64>() / n as f64) + " at the end",
            };
            line(&format!(
                "  {name}  {} {last}",
                dress(style, &sparkline(&values, LINE, max))
            ));
        }
        let share = |ns: u64| ns as f64 / run.duration.0 as f64;
        let parts: Vec<(f64, f64)> = Trigger::parts(&comparison.base().scenario)
            .into_iter()
            .map(|part| (share(part.begin.0), part.end.map_or(1.0, |t| share(t.0))))
            .collect();
        if !parts.is_empty() {
            let trigger = format!("trigger{}", " ".repeat(indent.len().saturating_sub(7)));
            line(&format!("  {trigger}  {}", marks(&parts, characters, '▔')));
        }
        line("");
    }
}

/// The figures that are looked at first, in a table that fits.
fn figures(
    base: &Ran,
    world: &Ran,
    differences: &[Difference],
    style: Style,
    line: &mut impl FnMut(&str),
) {
    let mut services: Vec<&str> = Vec::new();
    for d in differences.iter().filter(|d| finding::key(d)) {
        if d.scope == Scope::Service && !services.contains(&d.name.as_str()) {
            services.push(&d.name);
        }
    }
    let left_out = services.split_off(services.len().min(SERVICES_MAX)).len();
    let shown: Vec<&Difference> = differences
        .iter()
        .filter(|d| finding::key(d))
        .filter(|d| d.scope != Scope::Service || services.contains(&d.name.as_str()))
        .collect();
    let fits = |lines: &Vec<String>| lines.iter().all(|text| width(text) + 2 <= COLUMNS);
    let lines = [NAME_MAX, 16, 12, 8].map(|names| table(base, world, &shown, names).lines());
    let lines = lines.iter().find(|lines| fits(lines)).unwrap_or(&lines[3]);
    for (i, text) in lines.iter().enumerate() {
        let Some(verdict) = i.checked_sub(1).map(|row| shown[row].verdict) else {
            line(&format!("  {}", style.dim(text)));
            continue;
        };
        let words = verdict.words();
        let before = text.strip_suffix(words).unwrap_or(text);
        let dressed = match verdict {
            Verdict::Better => style.good(words),
            Verdict::Worse => style.bad(words),
            Verdict::TooFewReplications => style.warn(words),
            Verdict::Higher | Verdict::Lower => words.into(),
            Verdict::Same | Verdict::NoDifferenceSeen | Verdict::NoData => style.dim(words),
        };
        line(&format!("  {before}{dressed}"));
    }
    if left_out > 0 {
        line(&style.dim(&format!("  and {left_out} more services, see compare.csv")));
    }
}

fn table(base: &Ran, world: &Ran, shown: &[&Difference], names: usize) -> Table {
    use Align::{Left, Point};
    let (mine, its) = (cut(&base.name, names), cut(&world.name, names));
    let mut table = Table::new([
        ("figure", Left),
        (&mine, Point),
        (&its, Point),
        ("difference", Point),
        ("± 95 %", Point),
        ("verdict", Left),
    ]);
    for d in shown {
        let unit = d.figure.unit;
        let name = d.figure.name.trim_end_matches(unit.suffix());
        let name = name.trim_end_matches("_rate").trim_end_matches("_share");
        let name = name.replace('_', " ").replace("p999", "p99.9");
        let name = match d.scope {
            Scope::Service => format!("{name} at {}", cut(&d.name, names)),
            Scope::Effect => format!("{name}: {}", cut(&d.name, names)),
            _ => name,
        };
        let mean = |value: Option<f64>| value.map_or("–".into(), |v| unit.human(v));
        let estimate = &d.paired.difference;
        let change = match estimate.mean {
            Some(mean) if mean > 0.0 => format!("+{}", apart(unit, mean)),
            Some(mean) if mean < 0.0 => format!("−{}", apart(unit, -mean)),
            Some(mean) => apart(unit, mean),
            None => "–".into(),
        };
        let half = estimate.half_width();
        table.row([
            name,
            mean(d.paired.base),
            mean(d.paired.other),
            change,
            half.map_or("–".into(), |half| apart(unit, half)),
            d.verdict.words().into(),
        ]);
    }
    table
}

/// How far two values are apart: shares in percentage points, since a percentage would be of one of them.
fn apart(unit: Unit, distance: f64) -> String {
    match unit {
        Unit::Share => number::plain(distance * 100.0) + " pp",
        _ => unit.human(distance),
    }
}
