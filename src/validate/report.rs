//! Findings as people and programs read them.

use serde_json::{Value as Json, json};

use super::run::{Compared, Finding};
use super::tolerance::Verdict;
use crate::report::style::Style;

/// One case: a heading, and a line per metric.
#[must_use]
pub fn text(finding: &Finding, style: Style, brief: bool) -> String {
    let mut out = heading(finding, style);
    if let Some(feature) = &finding.missing {
        out += &format!("  {} {feature}\n", style.warn("not run, missing:"));
    }
    for compared in &finding.metrics {
        if brief && compared.verdict == Verdict::Passed {
            continue;
        }
        out += &line(compared, style);
    }
    for repeat in &finding.repeats {
        out += &format!("  {}\n", style.dim(&format!("({repeat})")));
    }
    out
}

fn heading(finding: &Finding, style: Style) -> String {
    let good = finding
        .metrics
        .iter()
        .filter(|m| m.verdict == Verdict::Passed)
        .count();
    let all = finding.metrics.len();
    let score = format!("{good} of {all}");
    let score = if finding.passed() {
        style.good(&score)
    } else {
        style.bad(&score)
    };
    format!(
        "{}  {}  {score}  {}\n",
        style.bold(&finding.case.id),
        finding.case.title,
        style.dim(&format!("{:.1} s", finding.seconds))
    )
}

fn line(compared: &Compared, style: Style) -> String {
    let verdict = match compared.verdict {
        Verdict::Passed => style.good("✓"),
        Verdict::Informative => style.dim("for information"),
        Verdict::Failed => style.bad("✗ differs"),
        Verdict::Imprecise { allowed, .. } => {
            style.warn(&format!("~ not within ±{}", six(allowed)))
        }
    };
    format!(
        "  {:<28} {:>12} {:>12} {:>14}  {verdict}\n",
        compared.name,
        value(compared.expected),
        value(compared.found.mean),
        interval(compared)
    )
}

/// The header over [`text`].
#[must_use]
pub fn header(style: Style) -> String {
    let header = format!(
        "  {:<28} {:>12} {:>12} {:>14}",
        "metric", "expected", "simulated", "± 95 %"
    );
    format!("{}\n", style.dim(&header))
}

/// The last line; `asked`: how many cases were to be run.
#[must_use]
pub fn total(findings: &[Finding], asked: usize, style: Style) -> String {
    let cases = findings.iter().filter(|finding| finding.passed()).count();
    let metrics = || findings.iter().flat_map(|finding| &finding.metrics);
    let good = metrics().filter(|m| m.verdict == Verdict::Passed).count();
    let all = metrics()
        .filter(|m| m.verdict != Verdict::Informative)
        .count();
    let text = format!(
        "{cases} of {} cases and {good} of {all} known values hold.",
        findings.len()
    );
    if findings.len() < asked {
        let left = asked - findings.len();
        style.warn(&format!(
            "Interrupted, with {left} of {asked} cases not run. {text}"
        )) + "\n"
    } else if cases == findings.len() {
        style.good(&text) + "\n"
    } else {
        style.bad(&text) + "\n"
    }
}

/// All findings, for programs.
#[must_use]
pub fn json(findings: &[Finding]) -> String {
    let metric = |compared: &Compared| {
        json!({
            "metric": compared.name,
            "expected": compared.expected,
            "simulated": compared.found.mean,
            "half_width": compared.found.half_width(),
            "replications": compared.found.replications,
            "verdict": word(compared.verdict),
        })
    };
    let case = |finding: &Finding| {
        json!({
            "case": finding.case.id,
            "family": finding.case.family,
            "title": finding.case.title,
            "passed": finding.passed(),
            "missing": finding.missing,
            "repeats": finding.repeats,
            "metrics": finding.metrics.iter().map(metric).collect::<Vec<Json>>(),
        })
    };
    let all: Vec<Json> = findings.iter().map(case).collect();
    serde_json::to_string_pretty(&all).expect("numbers and text are JSON") + "\n"
}

/// All findings, one row per metric.
#[must_use]
pub fn csv(findings: &[Finding]) -> String {
    let mut out =
        String::from("case,family,metric,expected,simulated,half_width,replications,verdict\n");
    for finding in findings {
        for compared in &finding.metrics {
            let number = |x: Option<f64>| x.map_or(String::new(), |x| x.to_string());
            out += &format!(
                "{},{},{},{},{},{},{},{}\n",
                finding.case.id,
                finding.case.family,
                compared.name,
                number(compared.expected),
                number(compared.found.mean),
                number(compared.found.half_width()),
                compared.found.replications,
                word(compared.verdict)
            );
        }
    }
    out
}

/// A table for docs/validation.md.
#[must_use]
pub fn markdown(findings: &[Finding]) -> String {
    let mut out = String::new();
    for finding in findings {
        out += &format!("\n### {}\n\n{}.", finding.case.id, finding.case.title);
        if !finding.case.source.is_empty() {
            out += &format!(" Source: {}.", finding.case.source.join("; "));
        }
        out += "\n\n";
        if let Some(feature) = &finding.missing {
            out += &format!("Not run; missing: {feature}.\n");
            continue;
        }
        out += "| metric | expected | simulated | ± 95 % | verdict |\n| --- | ---: | ---: | ---: | --- |\n";
        for compared in &finding.metrics {
            out += &format!(
                "| {} | {} | {} | {} | {} |\n",
                compared.name,
                value(compared.expected),
                value(compared.found.mean),
                interval(compared).trim_start_matches('±').trim(),
                word(compared.verdict)
            );
        }
        for repeat in &finding.repeats {
            out += &format!("\n({repeat})\n");
        }
    }
    out
}

fn word(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::Passed => "passed",
        Verdict::Imprecise { .. } => "imprecise",
        Verdict::Failed => "differs",
        Verdict::Informative => "for information",
    }
}

fn value(x: Option<f64>) -> String {
    x.map_or("–".into(), six)
}

fn interval(compared: &Compared) -> String {
    match compared.found.half_width() {
        Some(half) if half > 0.0 => format!("± {}", two(half)),
        _ => String::new(),
    }
}

/// Six significant digits.
fn six(x: f64) -> String {
    significant(x, 6)
}

/// Two significant digits.
fn two(x: f64) -> String {
    significant(x, 2)
}

fn significant(x: f64, digits: i32) -> String {
    if x == 0.0 {
        return "0".into();
    }
    let magnitude = libm::log10(x.abs()).floor() as i32;
    if magnitude < -6 {
        return format!("{x:.*e}", digits as usize - 1);
    }
    let decimals = (digits - 1 - magnitude).clamp(0, 12) as usize;
    let text = format!("{x:.decimals$}");
    match text.split_once('.') {
        Some(_) => text.trim_end_matches('0').trim_end_matches('.').to_owned(),
        None => text,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_have_six_digits_and_no_idle_zeros() {
        for (x, text) in [
            (0.8, "0.8"),
            (13.815_510_558, "13.8155"),
            (2_422.463_333, "2422.46"),
            (63_385.025, "63385"),
            (0.0, "0"),
            (5.421e-20, "5.42100e-20"),
        ] {
            assert_eq!(six(x), text);
        }
    }
}
