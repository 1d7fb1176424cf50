//! A queue whose callers give up and ask again, disturbed once: does it come back? Nothing here is random, so that each world
//! is run once.

use seawall::FailureKind;
use sim::metrics::{Outcome, Window};

use crate::validate::case::Case;
use crate::validate::plan::{Experiment, Values, loaded};
use crate::validate::text::{Text, law, rate, span};

/// When all triggers begin, in seconds, is in the case; so is what they do.
pub(super) fn experiments(case: &Case) -> Result<Vec<Experiment>, String> {
    match case.id.as_str() {
        "metastable-threshold-hotos" => Ok(threshold(case)),
        "storm-trace-300" => Ok(storm(case)),
        "trigger-pattern-osdi" => Ok(pattern(case)),
        "trigger-size-curve" => Ok(curve(case)),
        other => Err(format!("no way yet to run `{other}`")),
    }
}

/// `rate` calls a second, and one disturbance.
fn world(case: &Case, per_second: f64, fault: &str) -> Text {
    let duration = case.run.duration.unwrap_or(0.0);
    Text {
        title: format!("{}: {}", case.id, case.title),
        duration,
        window: 1.0,
        drain: 0.0,
        clients: vec![format!(
            "source: {{ arrivals: {{ paced: {} }}, calls: [ {{ to: db, policy: impatient }} ] }}",
            rate(per_second)
        )],
        services: vec![format!(
            "db: {{ concurrency: 1, work: {} }}",
            law(case.get("/stations/0/service"))
        )],
        policies: vec![format!(
            "impatient: {{ attempt_timeout: {}, retry: {{ max_attempts: {}, on: [ {} ] }} }}",
            span(case.number("/client/deadline")),
            case.number("/client/max_attempts"),
            FailureKind::Timeout.name()
        )],
        faults: vec![fault.to_owned()],
        ..Text::default()
    }
}

fn pause(case: &Case, length: f64) -> String {
    let start = case.number("/trigger/start");
    format!(
        "{{ at: {}, for: {}, pause: {{ service: db }} }}",
        span(start),
        span(length)
    )
}

/// The windows of a second that begin within `[from, to)`.
fn between(outcome: &Outcome, from: f64, to: f64) -> impl Iterator<Item = &Window> {
    outcome.windows.iter().filter(move |window| {
        let start = window.start.0 as f64 / 1e9;
        from <= start && start < to
    })
}

/// Calls answered in time, per second.
fn goodput(outcome: &Outcome, from: f64, to: f64) -> f64 {
    let ok: u64 = between(outcome, from, to)
        .map(|window| window.counts.edges[0].ok)
        .sum();
    ok as f64 / (to - from)
}

/// Attempts per second over the last tenth of the run.
fn attempts_at_end(outcome: &Outcome) -> f64 {
    let (from, to) = end(outcome);
    let sent: u64 = between(outcome, from, to)
        .map(|window| window.counts.edges[0].attempts)
        .sum();
    sent as f64 / (to - from)
}

/// The last tenth of the run, in whole seconds.
fn end(outcome: &Outcome) -> (f64, f64) {
    let to = (outcome.measured_to.0 as f64 / 1e9).round();
    ((to * 0.9).round(), to)
}

fn goodput_at_end(outcome: &Outcome) -> f64 {
    let (from, to) = end(outcome);
    goodput(outcome, from, to)
}

/// Jobs waiting or worked on at `at` whole seconds.
fn backlog(outcome: &Outcome, at: f64) -> f64 {
    let gauge = between(outcome, at - 1.0, at).last();
    gauge.map_or(f64::NAN, |window| {
        (window.services[0].queue + window.services[0].workers_busy) as f64
    })
}

fn yes(is: bool) -> f64 {
    f64::from(u8::from(is))
}

fn run(text: &Text) -> Outcome {
    sim::run(&loaded(&text.to_string()), 1)
}

/// Bronson et al.: with one retry each, a timed-out call costs two attempts, and 300 a second can be done.
fn threshold(case: &Case) -> Vec<Experiment> {
    let fault = pause(case, case.number("/trigger/duration"));
    let mut experiments: Vec<Experiment> = case
        .numbers("/sources/0/arrival/rate")
        .into_iter()
        .map(|lam| {
            Experiment::counted(world(case, lam, &fault), 1, move |outcome| {
                let well = goodput_at_end(outcome) >= lam / 2.0;
                vec![
                    ("stuck_load".into(), attempts_at_end(outcome)),
                    ("recovers".into(), yes(well)),
                ]
            })
            .named(format!("lam{lam}"))
        })
        .collect();
    let case = case.clone();
    experiments.push(Experiment::library(1, move |_| {
        let recovers = |lam: f64| goodput_at_end(&run(&world(&case, lam, &fault))) >= lam / 2.0;
        vec![("threshold".into(), bisected(100.0, 280.0, 0.5, recovers))]
    }));
    experiments
}

/// Where `holds` stops to hold between `low`, where it does, and `high`, to within `width`.
fn bisected(mut low: f64, mut high: f64, width: f64, holds: impl Fn(f64) -> bool) -> f64 {
    while high - low > width {
        let middle = (low + high) / 2.0;
        if holds(middle) {
            low = middle;
        } else {
            high = middle;
        }
    }
    (low + high) / 2.0
}

/// The storm second by second.
fn storm(case: &Case) -> Vec<Experiment> {
    let length = case.number("/trigger/duration");
    let over = case.number("/trigger/start") + length;
    let fault = pause(case, length);
    let one = |lam: f64| {
        Experiment::counted(world(case, lam, &fault), 1, move |outcome| {
            // The first second after the pause with nearly all of the load answered in time.
            let mut after = between(outcome, over, f64::INFINITY);
            let well = after.find(|window| window.counts.edges[0].ok as f64 >= 0.9 * lam);
            let second = well.map_or(-1.0, |window| window.start.0 as f64 / 1e9);
            vec![
                ("recovery_second".into(), second),
                ("attempts_per_s_end".into(), attempts_at_end(outcome)),
                ("goodput_end".into(), goodput_at_end(outcome)),
                ("backlog_t100".into(), backlog(outcome, 100.0)),
            ]
        })
        .named(format!("lam{lam}"))
    };
    case.numbers("/sources/0/arrival/rate")
        .into_iter()
        .map(one)
        .collect()
}

/// A server at a part of its speed for a while; rate, speed and length belong to each group of metrics.
fn pattern(case: &Case) -> Vec<Experiment> {
    let start = case.number("/trigger/start");
    let groups = case
        .metrics
        .iter()
        .filter_map(|(name, metric)| Some((name.strip_prefix("recovers_")?, &metric.parameters)));
    groups
        .map(|(variant, parameters)| {
            let number = |key: &str| parameters[key].as_f64().unwrap_or(f64::NAN);
            let (lam, length) = (number("rate"), number("duration"));
            let fault = format!(
                "{{ at: {}, for: {}, slow: {{ service: db, factor: {} }} }}",
                span(start),
                span(length),
                1.0 / number("speed")
            );
            Experiment::counted(world(case, lam, &fault), 1, move |outcome| {
                vec![
                    ("recovers".into(), yes(goodput_at_end(outcome) >= lam / 2.0)),
                    ("attempts_per_s_end".into(), attempts_at_end(outcome)),
                    (
                        "backlog_end_of_trigger".into(),
                        backlog(outcome, start + length),
                    ),
                ]
            })
            .named(variant)
        })
        .collect()
}

/// The shortest pause from which the system does not come back.
fn curve(case: &Case) -> Vec<Experiment> {
    let one = |lam: f64| {
        let shown = world(case, lam, &pause(case, 1.2));
        let case = case.clone();
        Experiment::library(1, move |_| -> Values {
            let recovers = |length: f64| {
                let outcome = run(&world(&case, lam, &pause(&case, length)));
                goodput(&outcome, 205.0, 215.0) >= lam / 2.0
            };
            vec![(
                "critical_outage".into(),
                bisected(0.5, 3.0, 0.002, recovers),
            )]
        })
        .showing(shown)
        .named(format!("lam{lam}"))
    };
    case.numbers("/sources/0/arrival/rate")
        .into_iter()
        .map(one)
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bound_is_found_by_halving() {
        let found = bisected(0.0, 8.0, 0.001, |x| x < 3.2);
        assert!((found - 3.2).abs() <= 0.001, "{found}");
    }
}
