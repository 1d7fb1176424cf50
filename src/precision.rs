//! As many replications as a figure needs: `--precision METRIC=HALF-WIDTH`.

use sim::expect::{self, Measure, Metric, measured};
use sim::metrics::Outcome;
use sim::scenario::Scenario;

use crate::stats::Estimate;

/// With fewer replications than this a chance agreement of the first few would stop too early.
pub const REPLICATIONS_MIN: u32 = 10;
/// Replications there are at most, unless somebody says otherwise.
pub const REPLICATIONS_MAX: u32 = 100;

/// How sure a figure has to be.
#[derive(Clone, Debug, PartialEq)]
pub struct Goal {
    /// As written.
    pub text: String,
    measure: Measure,
    allowed: Allowed,
}

/// The largest half-width that is good enough.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Allowed {
    /// A share of the mean.
    Relative(f64),
    /// In the unit of the metric.
    Absolute(f64),
}

/// How sure a figure is.
#[derive(Clone, Debug, PartialEq)]
pub struct Reached {
    /// The goal, as written.
    pub text: String,
    /// The figure, in the unit of the metric: seconds, shares, per second.
    pub estimate: Estimate,
    /// The largest half-width that is good enough, in the same unit; `None` without a mean.
    pub allowed: Option<f64>,
    /// Whether the interval is that tight.
    pub reached: bool,
    /// The same for people.
    pub shown: String,
}

/// Keys of each entry of `precision` in `summary.json`, with their meaning.
pub const KEYS: [(&str, &str); 6] = [
    ("text", "As typed."),
    ("reached", "Whether the interval is that tight."),
    (
        "mean",
        "The figure in the unit of `expect`: seconds, shares of 1, per second.",
    ),
    ("half_width", "Half the width of its 95 % interval."),
    ("allowed", "What it may be at most."),
    ("replications", "Replications that have a value."),
];

impl Goal {
    /// From `METRIC=HALF-WIDTH`: the metric as in `expect`; the half-width in per cent of the mean, or in the
    /// unit of the metric.
    ///
    /// # Errors
    /// What is wrong with it, in a sentence.
    pub fn parse(text: &str, scenario: &Scenario) -> Result<Goal, String> {
        let (metric, allowed) = text
            .rsplit_once('=')
            .ok_or("expected METRIC=HALF-WIDTH, such as goodput=1% or p99(web)=5ms".to_string())?;
        let measure = expect::measure(metric, scenario)?;
        if measure.metric == Metric::Verdict {
            return Err("a verdict is no number; it has no interval".into());
        }
        let allowed = allowed.trim();
        let allowed =
            match allowed.strip_suffix('%') {
                Some(percent) => Allowed::Relative(
                    percent.trim().parse::<f64>().map_err(|_| {
                        format!("expected a percentage of the mean, got `{allowed}`")
                    })? / 100.0,
                ),
                None => Allowed::Absolute(expect::amount(measure.metric, allowed)?),
            };
        let (Allowed::Relative(size) | Allowed::Absolute(size)) = allowed;
        if !(size > 0.0 && size.is_finite()) {
            return Err("a half-width must be above 0".into());
        }
        Ok(Goal {
            text: text.trim().into(),
            measure,
            allowed,
        })
    }

    /// How sure the figure is after these replications.
    #[must_use]
    pub fn judge(&self, scenario: &Scenario, outcomes: &[Outcome]) -> Reached {
        let values = outcomes.iter();
        self.judge_values(values.map(|outcome| measured(&self.measure, scenario, outcome)))
    }

    fn judge_values(&self, values: impl Iterator<Item = Option<f64>>) -> Reached {
        let estimate = Estimate::of(values);
        let allowed = match self.allowed {
            Allowed::Relative(share) => estimate.mean.map(|mean| share * mean.abs()),
            Allowed::Absolute(size) => Some(size),
        };
        let half = estimate.half_width();
        let reached = half
            .zip(allowed)
            .is_some_and(|(half, allowed)| half <= allowed);
        let unit = self.measure.metric.unit();
        let shown = match (estimate.mean, half) {
            (Some(mean), Some(half)) => match self.allowed {
                Allowed::Relative(_) if mean != 0.0 => format!(
                    "{} ± {:.2}% after {} replications",
                    unit.show(mean),
                    half / mean.abs() * 100.0,
                    estimate.replications
                ),
                _ => format!(
                    "{} ± {} after {} replications",
                    unit.show(mean),
                    unit.show(half),
                    estimate.replications
                ),
            },
            (Some(mean), None) => format!("{}, in one replication only", unit.show(mean)),
            (None, _) => "no data".into(),
        };
        Reached {
            text: self.text.clone(),
            estimate,
            allowed,
            reached,
            shown,
        }
    }
}

/// How many replications to have in all after `done` of them, `None`: enough, or `max` was reached. The half-width falls
/// as 1/√n, so `n (half ÷ allowed)²` are needed by what is known now; at most twice as many as there are, since that is
/// not much, and at least a tenth more. It depends on what was found and on nothing else, so results are the
/// same for any number of threads.
#[must_use]
pub fn next(reached: &[Reached], done: u32, max: u32) -> Option<u32> {
    let open: Vec<&Reached> = reached.iter().filter(|r| !r.reached).collect();
    if open.is_empty() || done >= max {
        return None;
    }
    let needed = |r: &&Reached| match (r.estimate.half_width(), r.allowed) {
        (Some(half), Some(allowed)) if allowed > 0.0 => {
            let ratio = half / allowed;
            f64::from(done) * ratio * ratio
        }
        _ => f64::INFINITY,
    };
    let needed = open.iter().map(needed).fold(0.0, f64::max);
    let least = done + done.div_ceil(10).max(1);
    // Casts saturate.
    let wanted = (needed.ceil() as u32).clamp(least, done.saturating_mul(2).max(least));
    Some(wanted.min(max))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample;

    fn goal(text: &str) -> Result<Goal, String> {
        Goal::parse(text, &sample::scenario())
    }

    #[test]
    fn a_goal_is_relative_in_per_cent_or_absolute_in_the_unit_of_the_metric() {
        let allowed = |text| goal(text).map(|g| g.allowed);
        assert_eq!(allowed("goodput=1%"), Ok(Allowed::Relative(0.01)));
        assert_eq!(allowed("goodput=5/s"), Ok(Allowed::Absolute(5.0)));
        assert_eq!(allowed("p99(web)=5ms"), Ok(Allowed::Absolute(0.005)));
        assert_eq!(allowed("success_rate=0.01"), Ok(Allowed::Absolute(0.01)));
        assert_eq!(allowed("amplification(db)=0.1"), Ok(Allowed::Absolute(0.1)));
        for (text, words) in [
            ("goodput", "METRIC=HALF-WIDTH"),
            ("godput=1%", "did you mean `goodput`"),
            ("goodput=1", "no unit"),
            ("goodput=-1%", "above 0"),
            ("verdict=1%", "no number"),
            ("p99(nobody)=1%", "nobody"),
        ] {
            let said = goal(text).expect_err(text);
            assert!(said.contains(words), "{text}: {said}");
        }
    }

    #[test]
    fn a_goal_is_reached_when_the_interval_is_that_tight() {
        let values = || [99.0, 101.0, 100.0].map(Some).into_iter();
        // s = 1, so the half-width is 4.3027 / √3 = 2.4841.
        let judged = |text: &str| goal(text).expect(text).judge_values(values());
        assert!(judged("goodput=2.5%").reached);
        assert!(!judged("goodput=2.4%").reached);
        assert!(judged("goodput=2.5/s").reached);
        assert!(!judged("goodput=2.4/s").reached);
        assert_eq!(
            judged("goodput=2%").shown,
            "100/s ± 2.48% after 3 replications"
        );
        let none = goal("goodput=1%")
            .expect("a goal")
            .judge_values([None].into_iter());
        assert!(!none.reached);
    }

    #[test]
    fn replications_are_added_by_what_is_missing_up_to_twice_and_to_the_most() {
        let values = || {
            [
                99.0, 101.0, 100.0, 99.0, 101.0, 100.0, 99.0, 101.0, 100.0, 100.0,
            ]
        };
        let judged = |text: &str| {
            vec![
                goal(text)
                    .expect(text)
                    .judge_values(values().map(Some).into_iter()),
            ]
        };
        // s² = 6/9, half = 2.2622 · √(0.6667/10) = 0.5841.
        assert_eq!(next(&judged("goodput=0.6%"), 10, 100), None);
        assert_eq!(next(&judged("goodput=0.5%"), 10, 100), Some(14));
        assert_eq!(next(&judged("goodput=0.58%"), 10, 100), Some(11));
        assert_eq!(next(&judged("goodput=0.01%"), 10, 100), Some(20));
        assert_eq!(next(&judged("goodput=0.01%"), 60, 100), Some(100));
        assert_eq!(next(&judged("goodput=0.01%"), 100, 100), None);
    }
}
