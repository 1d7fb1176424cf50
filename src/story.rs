//! What happened, in one sentence.

use serde_json::{Value, json};
use sim::expect::{Metric, evaluate};
use sim::metrics::{Ended, Outcome, Window};
use sim::scenario::Scenario;
use sim::verdict::{Judgement, Trigger, Verdict, judge};

use crate::figure::column::rounded;
use crate::figure::{Scope, top_edges};
use crate::number;
use crate::report::json;
use crate::report::summary::Summary;
use crate::stats::Estimate;

/// How the news sound.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tone {
    /// As it should be.
    Good,
    /// With a dent.
    Warn,
    /// As it should not be.
    Bad,
}

/// What happened, for the top of every report.
#[derive(Clone, Debug, PartialEq)]
pub struct Story {
    /// How it sounds.
    pub tone: Tone,
    /// The finding.
    pub sentence: String,
    /// One per replication.
    pub judgements: Vec<Judgement>,
}

/// A promise of the scenario, and what became of it.
#[derive(Clone, Debug, PartialEq)]
pub struct Promise {
    /// As written.
    pub text: String,
    /// Whether every replication kept it.
    pub kept: bool,
    /// What was observed, for people.
    pub actual: String,
}

/// Keys of `verdict` in `summary.json`, with their meaning.
pub const VERDICT_KEYS: [(&str, &str); 7] = [
    (
        "kind",
        "`healthy`, `recovered`, `degraded` or `metastable`: the most frequent one, the worse of equally frequent ones.",
    ),
    ("sentence", "The same for people, with its main figures."),
    ("replications", "The verdict on each replication."),
    (
        "recovery_time_s",
        "Seconds from the end of the trigger until all was well for good, over the replications that got there: `mean`, `low`, `high`, `replications`.",
    ),
    (
        "trigger_begin_s",
        "Simulated second at which the world is first disturbed; `null` if it is not.",
    ),
    (
        "trigger_end_s",
        "Simulated second from which it is left alone; `null` for never.",
    ),
    (
        "baseline_goodput_per_s",
        "Goodput before the trigger: `mean`, `low`, `high`, `replications`.",
    ),
];

impl Story {
    /// Of all replications together.
    #[must_use]
    pub fn of(scenario: &Scenario, outcomes: &[Outcome], summary: &Summary) -> Story {
        let judgements: Vec<Judgement> = outcomes.iter().map(|o| judge(scenario, o)).collect();
        let common = most_frequent(&judgements);
        let teller = Teller {
            scenario,
            outcomes,
            summary,
            judgements: &judgements,
            common,
        };
        let (tone, mut sentence) = match common {
            Verdict::Healthy => (Tone::Good, teller.healthy()),
            Verdict::Recovered { .. } => (Tone::Warn, teller.recovered()),
            Verdict::Degraded => (Tone::Bad, teller.degraded()),
            Verdict::Metastable => (Tone::Bad, teller.metastable()),
        };
        let same = judgements
            .iter()
            .filter(|j| j.verdict.index() == common.index())
            .count();
        if same < judgements.len() {
            sentence = format!(
                "{sentence} (so in {same} of {} replications)",
                judgements.len()
            );
        }
        Story {
            tone,
            sentence,
            judgements,
        }
    }

    /// The verdict most replications got.
    #[must_use]
    pub fn verdict(&self) -> Verdict {
        most_frequent(&self.judgements)
    }

    /// As `summary.json` has it.
    #[must_use]
    pub fn json(&self) -> Value {
        let each = self.judgements.iter();
        let recovery = each
            .clone()
            .map(|j| Some(j.verdict.recovery()?.as_secs_f64()));
        let trigger = self.judgements.first().and_then(|j| j.trigger);
        let seconds = |ns: u64| rounded(ns as f64 / 1e9);
        let values = [
            json!(self.verdict().name()),
            json!(self.sentence),
            json!(each.clone().map(|j| j.verdict.name()).collect::<Vec<_>>()),
            json::estimate(&Estimate::of(recovery)),
            json::number(trigger.map(|t| seconds(t.begin.0))),
            json::number(trigger.and_then(|t| t.end).map(|t| seconds(t.0))),
            json::estimate(&Estimate::of(each.map(|j| j.baseline))),
        ];
        let keys = VERDICT_KEYS.iter().map(|(key, _)| (*key).to_string());
        Value::Object(keys.zip(values).collect())
    }
}

/// The verdict of most replications; of equally frequent ones the worse.
fn most_frequent(judgements: &[Judgement]) -> Verdict {
    let votes = |v: Verdict| {
        judgements
            .iter()
            .filter(|j| j.verdict.index() == v.index())
            .count()
    };
    let verdicts = judgements.iter().map(|j| j.verdict);
    verdicts
        .max_by_key(|&v| (votes(v), Verdict::badness(v.index())))
        .unwrap_or(Verdict::Healthy)
}

struct Teller<'a> {
    scenario: &'a Scenario,
    outcomes: &'a [Outcome],
    summary: &'a Summary,
    judgements: &'a [Judgement],
    common: Verdict,
}

impl Teller<'_> {
    fn healthy(&self) -> String {
        let success = self.success();
        let run = self.summary.run();
        let p99 = run.mean("call_p99_ms").map_or_else(String::new, |ms| {
            format!(", 99 % of them within {}", number::duration(ms / 1e3))
        });
        let left = if self.judgements[0].trigger.is_some() {
            "The trigger left no mark"
        } else {
            "Healthy"
        };
        match success {
            Some(success) => format!("{left}: {success} of calls ended well{p99}"),
            None => "No call ended, so there is nothing to judge".into(),
        }
    }

    fn recovered(&self) -> String {
        let times = self
            .alike()
            .filter_map(|(j, _)| Some(j.verdict.recovery()?.as_secs_f64()));
        let times: Vec<f64> = times.collect();
        let after = times.iter().sum::<f64>() / times.len().max(1) as f64;
        let when = if after == 0.0 {
            "Recovered as soon as the trigger ended".into()
        } else {
            format!(
                "Recovered {} after the trigger ended",
                number::duration(after)
            )
        };
        match self.lowest() {
            Some(lowest) => format!(
                "{when}; goodput fell to {} of normal",
                number::share(lowest)
            ),
            None => when,
        }
    }

    fn metastable(&self) -> String {
        let since = self
            .alike()
            .filter_map(|(j, o)| Some(o.measured_to.since(j.trigger?.end?).as_secs_f64()));
        let since = number::duration(since.fold(0.0, f64::max));
        let left = match self.at_the_end() {
            Some(0.0) => "there is still no goodput at all".into(),
            Some(share) if share < 0.0005 => "there is still hardly any goodput".into(),
            Some(share) => format!("goodput is still {} of normal", number::share(share)),
            None => "goodput is still not back".into(),
        };
        format!(
            "Metastable: {since} after the trigger ended {left}{}",
            self.kept_down_by()
        )
    }

    fn degraded(&self) -> String {
        let without = match self.judgements[0].trigger {
            Some(Trigger { end: None, .. }) => " while the trigger lasts",
            _ => "",
        };
        let cut = |(_, o): (&Judgement, &Outcome)| o.ended != Ended::Completed;
        let Some(success) = self.success() else {
            return match self.alike().all(cut) {
                true => "Cut short before any call ended: nothing to judge".into(),
                false => "Degraded: no call ended".into(),
            };
        };
        if self.alike().all(cut) {
            let ends = self.alike().map(|(_, o)| o.measured_to.0 as f64 / 1e9);
            return format!(
                "Cut short at {}, so nobody knows how it ends: {success} of calls ended well so far{}",
                number::duration(ends.fold(0.0, f64::max)),
                self.kept_down_by()
            );
        }
        if self.alike().all(|(j, _)| j.too_short) {
            return format!(
                "Degraded, and cut short: {success} of calls ended well; a longer run.duration would tell whether it stays down{}",
                self.kept_down_by()
            );
        }
        let ended = match self.still_open() {
            Some(open) => {
                format!("{open} calls are still open, of the others {success} ended well")
            }
            None => format!("{success} of calls ended well"),
        };
        format!("Degraded: {ended}{without}{}", self.kept_down_by())
    }

    /// Calls that have not ended with the run, if they are more than one in a hundred.
    fn still_open(&self) -> Option<String> {
        let run = self.summary.run();
        let (open, calls) = (run.mean("calls_open")?, run.mean("calls")?);
        (open > 0.01 * calls).then(|| number::prefixed(open))
    }

    /// Who gets most of the attempts, if that is more than one per call.
    fn kept_down_by(&self) -> String {
        let services = self.summary.of_scope(Scope::Service);
        let hit = services
            .filter_map(|row| Some((row.mean("amplification")?, &row.subject.name)))
            .max_by(|a, b| a.0.total_cmp(&b.0));
        match hit {
            Some((amplification, name)) if amplification >= 1.05 => {
                format!(
                    "; {name} gets {} attempts per call",
                    number::plain(amplification)
                )
            }
            _ => String::new(),
        }
    }

    /// `None`: no call ended.
    fn success(&self) -> Option<String> {
        self.summary.run().mean("success_rate").map(number::share)
    }

    /// The replications that got the common verdict.
    fn alike(&self) -> impl Iterator<Item = (&Judgement, &Outcome)> {
        let all = self.judgements.iter().zip(self.outcomes);
        all.filter(|(j, _)| j.verdict.index() == self.common.index())
    }

    /// Goodput over the last block of windows, as a share of the baseline.
    fn at_the_end(&self) -> Option<f64> {
        let share = |(j, o): (&Judgement, &Outcome)| {
            let last = o.windows.len().saturating_sub(j.block);
            Some(self.goodput(&o.windows[last..])? / j.baseline?)
        };
        self.alike().filter_map(share).reduce(f64::max)
    }

    /// Goodput over the worst block of windows from the trigger on, as a share of the baseline.
    fn lowest(&self) -> Option<f64> {
        let lowest = |(j, o): (&Judgement, &Outcome)| {
            let trigger = j.trigger?;
            let from = o.windows.partition_point(|w| w.start < trigger.begin);
            let blocks = o.windows[from..].windows(j.block.min(o.windows.len() - from).max(1));
            let worst = blocks
                .filter_map(|block| self.goodput(block))
                .reduce(f64::min)?;
            Some(worst / j.baseline?)
        };
        let each: Vec<f64> = self
            .alike()
            .filter_map(lowest)
            .filter(|x| x.is_finite())
            .collect();
        (!each.is_empty()).then(|| each.iter().sum::<f64>() / each.len() as f64)
    }

    /// Calls of clients answered well per second.
    fn goodput(&self, windows: &[Window]) -> Option<f64> {
        let top = top_edges(self.scenario);
        let ok: u64 = windows
            .iter()
            .flat_map(|w| top.iter().map(|&e| w.counts.edges[e].ok))
            .sum();
        let seconds = windows
            .last()?
            .end
            .since(windows.first()?.start)
            .as_secs_f64();
        Some(ok as f64 / seconds)
    }
}

/// What became of the promises of a scenario; each must be kept by every replication.
#[must_use]
pub fn promises(scenario: &Scenario, outcomes: &[Outcome]) -> Vec<Promise> {
    let promise = |promise: &sim::expect::Expectation| {
        let checked: Vec<_> = outcomes
            .iter()
            .map(|o| evaluate(promise, scenario, o))
            .collect();
        let kept = checked.iter().filter(|c| c.holds).count();
        let mut shown: Vec<(Option<f64>, &str)> = checked
            .iter()
            .map(|c| (c.actual, c.shown.as_str()))
            .collect();
        shown.sort_by(|a, b| a.partial_cmp(b).expect("measured values are numbers"));
        shown.dedup_by_key(|(_, shown)| *shown);
        let mut actual = match shown[..] {
            [] => "no data".into(),
            [(_, only)] => only.to_string(),
            [(_, a), (_, b)] => format!("{a}, {b}"),
            // Names have no "from … to".
            [..] if promise.measure.metric == Metric::Verdict => {
                shown.iter().map(|(_, s)| *s).collect::<Vec<_>>().join(", ")
            }
            [(_, first), .., (_, last)] => format!("{first} … {last}"),
        };
        if kept > 0 && kept < checked.len() {
            actual += &format!(" (kept in {kept} of {})", checked.len());
        }
        Promise {
            text: promise.text.clone(),
            kept: kept == checked.len(),
            actual,
        }
    };
    scenario.expect.iter().map(promise).collect()
}
