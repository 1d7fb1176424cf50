//! How the things of an experiment are called in pictures and tables.

use sim::expect::Unit;
use sim::verdict::Verdict;

use super::plan::Plan;
use super::results::{Results, Tally};
use crate::figure::column;
use crate::number;
use crate::plot::theme::{self, Colour};

/// Verdicts from best to worst: index in [`Verdict::NAMES`], colour, what it means.
pub const VERDICTS: [(usize, Colour, &str); 4] = [
    (
        Verdict::Healthy.index(),
        Colour(0x4D_B89A),
        "goodput never dips",
    ),
    (Verdict::RECOVERED, theme::NEUTRAL, "comes back by itself"),
    (
        Verdict::Degraded.index(),
        theme::QUEUE,
        "not well, and neither of the others",
    ),
    (
        Verdict::Metastable.index(),
        theme::ATTEMPTS,
        "down for good, trigger gone",
    ),
];

/// Points, replications, seeds and time in a few words.
#[must_use]
pub fn setup(plan: &Plan, results: &Results) -> String {
    let mut words = vec![match (plan.spots.len(), plan.replications) {
        (1, n) => format!("1 point × {n}"),
        (points, 1) => format!("{points} points"),
        (points, n) => format!("{points} points × {n} replications"),
    }];
    let first = plan.spots.first().map_or(0, |spot| spot.seed);
    if plan.spots.iter().all(|spot| spot.seed == first) {
        words.push(match plan.replications {
            1 => format!("seed {first}"),
            n => format!("seeds {first} to {}", first.wrapping_add(u64::from(n) - 1)),
        });
    }
    if let Some(duration) = plan.duration {
        words.push(format!("{} simulated each", number::duration(duration)));
    }
    if !results.complete() {
        let (done, all) = (results.count(), plan.runs().count());
        words.push(format!("INCOMPLETE: {done} of {all} runs"));
    }
    words.join(" · ")
}

/// The name of the model without folder and suffix.
#[must_use]
pub fn model_name(plan: &Plan) -> &str {
    let file = plan.model().rsplit(['/', '\\']).next().unwrap_or_default();
    file.rsplit_once('.').map_or(file, |(name, _)| name)
}

/// The place of a verdict from best to worst.
#[must_use]
pub fn rank(tally: Tally) -> usize {
    let known = VERDICTS
        .iter()
        .position(|(index, ..)| *index == tally.verdict);
    known.unwrap_or(VERDICTS.len() - 1)
}

/// The unit that numbers of an axis do not say themselves.
#[must_use]
pub const fn unsaid(unit: Unit) -> Option<column::Unit> {
    match unit {
        Unit::Rate => Some(column::Unit::PerSecond),
        _ => None,
    }
}

/// A label with its unit, where the numbers beside it do not say it themselves.
#[must_use]
pub fn titled(label: &str, unit: Option<column::Unit>) -> String {
    match unit {
        Some(column::Unit::PerSecond) if !label.contains("per second") => {
            format!("{label} (per second)")
        }
        _ => label.into(),
    }
}

/// A duration in so few characters that it fits into a cell.
#[must_use]
pub fn short_time(seconds: f64) -> String {
    match seconds {
        0.095..9.95 => number::plain((seconds * 10.0).round() / 10.0) + " s",
        9.95..119.5 => format!("{seconds:.0} s"),
        119.5..7200.0 => format!("{:.0} min", seconds / 60.0),
        _ => number::duration(seconds),
    }
}

/// A share in so few characters that it fits into a cell: `94 %`, `5.2 %`, `0.1 %`.
#[must_use]
pub fn short_share(share: f64) -> String {
    let percent = share * 100.0;
    if percent.abs() < 9.95 {
        number::plain((percent * 10.0).round() / 10.0) + " %"
    } else {
        format!("{percent:.0} %")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cell_holds_few_characters() {
        let cases = [
            (0.0, "0 s"),
            (0.0123, "12.3 ms"),
            (0.333, "0.3 s"),
            (1.2345, "1.2 s"),
            (38.4, "38 s"),
            (150.0, "2 min"),
            (9000.0, "2 h 30 min"),
        ];
        for (seconds, text) in cases {
            assert_eq!(short_time(seconds), text);
        }
    }

    #[test]
    fn a_share_in_a_cell_is_short() {
        let shares = [0.0, 0.0004, 0.0523, 0.937, 1.0].map(short_share);
        assert_eq!(shares, ["0 %", "0 %", "5.2 %", "94 %", "100 %"]);
    }

    #[test]
    fn every_verdict_has_its_place() {
        for verdict in 0..Verdict::NAMES.len() {
            let place = rank(Tally { verdict, votes: 1 });
            assert_eq!(VERDICTS[place].0, verdict);
        }
        let names = VERDICTS.map(|(index, ..)| Verdict::NAMES[index]);
        assert_eq!(names, ["healthy", "recovered", "degraded", "metastable"]);
    }
}
