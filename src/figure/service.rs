//! What is reported about a service.

use hdrhistogram::Histogram;
use sim::metrics::{Outcome, ServiceCount, ServiceGauge, Window};

use super::calls::PERCENTILES;
use super::column::{Column, Unit};

/// A service over some time.
#[derive(Clone, Debug, Default)]
pub struct Load {
    /// Summed over replicas. Over a whole run it goes on to the end of the drain, when calls begun in
    /// time have ended.
    pub count: ServiceCount,
    /// The same without the drain: what rates per second and shares of time are of.
    pub timed: ServiceCount,
    /// Length of the time that `timed` is over, in seconds.
    pub seconds: f64,
    /// Logical calls begun by clients meanwhile.
    pub top_calls: u64,
}

/// A service over the whole measured time.
#[derive(Clone, Debug)]
pub struct WholeService {
    /// What was counted.
    pub load: Load,
    /// Time inside of the jobs that were answered.
    pub sojourn: Histogram<u64>,
    /// The most jobs that waited at once.
    pub queue_max: u64,
}

/// A service in one window.
#[derive(Clone, Debug)]
pub struct WindowService {
    /// What was counted.
    pub load: Load,
    /// Its state at the end.
    pub gauge: ServiceGauge,
}

impl WholeService {
    /// Of `service` in `outcome`, when `top_calls` calls were begun by clients.
    #[must_use]
    pub fn of(outcome: &Outcome, service: usize, top_calls: u64) -> WholeService {
        let measured = outcome
            .windows
            .iter()
            .filter(|w| w.end > outcome.measured_from);
        WholeService {
            load: Load {
                count: outcome.drained.services[service].clone(),
                timed: outcome.totals.services[service].clone(),
                seconds: outcome
                    .measured_to
                    .since(outcome.measured_from)
                    .as_secs_f64(),
                top_calls,
            },
            sojourn: outcome.sojourn[service].clone(),
            queue_max: measured
                .map(|w| w.services[service].queue_max)
                .max()
                .unwrap_or(0),
        }
    }
}

impl WindowService {
    /// Of `service` in `window`, when `top_calls` calls were begun by clients in it.
    #[must_use]
    pub fn of(window: &Window, service: usize, top_calls: u64) -> WindowService {
        WindowService {
            load: Load {
                count: window.counts.services[service].clone(),
                timed: window.counts.services[service].clone(),
                seconds: window.end.since(window.start).as_secs_f64(),
                top_calls,
            },
            gauge: window.services[service],
        }
    }
}

fn quotient(part: f64, whole: f64) -> Option<f64> {
    (whole > 0.0).then(|| part / whole)
}

/// What is counted, over any time.
fn counted() -> Vec<Column<Load>> {
    use Unit::{Factor, Mean, Milliseconds, PerSecond, Share};
    fn per_second(n: fn(&ServiceCount) -> u64) -> impl Fn(&Load) -> Option<f64> {
        move |l| quotient(n(&l.timed) as f64, l.seconds)
    }
    vec![
        Column::count(
            "arrived",
            "Attempts that reached the service.",
            |l: &Load| l.count.arrived,
        ),
        Column::new(
            "arrived_per_s",
            PerSecond,
            "Attempts that reached the service.",
            per_second(|c| c.arrived),
        ),
        Column::count(
            "arrived_first",
            "Of those, the first attempts of their call.",
            |l: &Load| l.count.arrived_first,
        ),
        Column::count("arrived_retries", "Of those, the others.", |l: &Load| {
            l.count.arrived - l.count.arrived_first
        }),
        Column::new(
            "amplification",
            Factor,
            "Attempts that reached the service ÷ logical calls begun by clients.",
            |l: &Load| quotient(l.count.arrived as f64, l.top_calls as f64),
        ),
        Column::new(
            "first_attempts_per_top_call",
            Factor,
            "First attempts that reached the service ÷ logical calls begun by clients: what the amplification would be had this hop not retried.",
            |l: &Load| quotient(l.count.arrived_first as f64, l.top_calls as f64),
        ),
        Column::count("started", "Jobs started.", |l: &Load| l.count.started),
        Column::count("served", "Jobs answered well.", |l: &Load| l.count.served),
        Column::new(
            "served_per_s",
            PerSecond,
            "Jobs answered well.",
            per_second(|c| c.served),
        ),
        Column::count(
            "failed",
            "Jobs answered with a failure of their own program.",
            |l: &Load| l.count.failed,
        ),
        Column::count(
            "shed_full",
            "Attempts refused because the waiting room was full.",
            |l: &Load| l.count.shed_full,
        ),
        Column::count(
            "shed_expired",
            "Jobs dropped from the queue since their deadline had passed.",
            |l: &Load| l.count.shed_expired,
        ),
        Column::count(
            "shed_waited",
            "Jobs refused or dropped since they had waited too long.",
            |l: &Load| l.count.shed_waited,
        ),
        Column::count(
            "rate_limited",
            "Attempts refused by the rate limit.",
            |l: &Load| l.count.rate_limited,
        ),
        Column::count(
            "unreachable",
            "Attempts refused since no replica was there to take them.",
            |l: &Load| l.count.unreachable,
        ),
        Column::count(
            "restarts",
            "Replicas that died and were started again.",
            |l: &Load| l.count.restarts,
        ),
        Column::count(
            "probes",
            "Probes sent; they are no attempts.",
            |l: &Load| l.count.probes,
        ),
        Column::count(
            "probes_failed",
            "Of those, the ones that were not answered well in time.",
            |l: &Load| l.count.probes_failed,
        ),
        Column::new(
            "replicas_mean",
            Mean,
            "Replicas that requests were given to, mean over time.",
            |l: &Load| quotient(l.timed.replicas_ns as f64, l.seconds * 1e9),
        ),
        Column::count(
            "faulted",
            "Attempts answered with a failure by a fault, or rejected for their token.",
            |l: &Load| l.count.faulted,
        ),
        Column::count(
            "lost",
            "Jobs lost in an outage or a crash, and attempts that vanished in an outage.",
            |l: &Load| l.count.lost,
        ),
        Column::count(
            "cancelled",
            "Jobs cancelled because their caller had left.",
            |l: &Load| l.count.cancelled,
        ),
        Column::count(
            "late",
            "Jobs answered after their caller had left.",
            |l: &Load| l.count.late,
        ),
        Column::new(
            "utilisation",
            Share,
            "Worker time spent holding jobs ÷ worker time there was, faults taken off; where jobs share cores and workers are unlimited, \
             the same of core time; empty when neither has a bound.",
            |l: &Load| l.timed.utilisation(),
        ),
        Column::new(
            "wasted_share",
            Share,
            "Of the worker time of the jobs that left, that of jobs nobody waited for any more, all of it.",
            |l: &Load| l.timed.wasted_share(),
        ),
        Column::new(
            "queue_mean",
            Mean,
            "Jobs waiting, mean over time.",
            |l: &Load| quotient(l.timed.queue_ns as f64, l.seconds * 1e9),
        ),
        Column::new(
            "inside_mean",
            Mean,
            "Jobs in the service, waiting or not, mean over time.",
            |l: &Load| quotient(l.timed.inside_ns as f64, l.seconds * 1e9),
        ),
        Column::new(
            "wait_mean_ms",
            Milliseconds,
            "Mean wait of the jobs that were started.",
            |l: &Load| quotient(l.count.wait_ns as f64, l.count.started as f64 * 1e6),
        ),
        Column::new(
            "waited_share",
            Share,
            "Of the jobs started, those that had to wait.",
            |l: &Load| quotient(l.count.waited as f64, l.count.started as f64),
        ),
    ]
}

/// What is reported about a service over the whole measured time.
#[must_use]
pub fn whole() -> Vec<Column<WholeService>> {
    use Unit::Milliseconds;
    let mut columns: Vec<Column<WholeService>> = counted()
        .into_iter()
        .map(|c| c.within(|w: &WholeService| &w.load))
        .collect();
    columns.push(Column::count(
        "queue_max",
        "The most jobs that waited at once, all replicas.",
        |w: &WholeService| w.queue_max,
    ));
    for (name, ordinal, quantile) in PERCENTILES {
        let meaning =
            format!("{ordinal} of the time inside the service of jobs that were answered.");
        columns.push(Column::new(
            format!("sojourn_{name}_ms"),
            Milliseconds,
            meaning,
            move |w: &WholeService| {
                (!w.sojourn.is_empty()).then(|| w.sojourn.value_at_quantile(quantile) as f64 / 1e6)
            },
        ));
    }
    columns
}

/// What is reported about a service in one window.
#[must_use]
pub fn window() -> Vec<Column<WindowService>> {
    let mut columns: Vec<Column<WindowService>> = counted()
        .into_iter()
        .map(|c| c.within(|w: &WindowService| &w.load))
        .collect();
    columns.extend([
        Column::count(
            "queue",
            "Jobs waiting at the end of the window, all replicas.",
            |w: &WindowService| w.gauge.queue,
        ),
        Column::count(
            "queue_max",
            "The most jobs that waited at once, all replicas.",
            |w: &WindowService| w.gauge.queue_max,
        ),
        Column::count(
            "workers_busy",
            "Workers holding a job at the end of the window.",
            |w: &WindowService| w.gauge.workers_busy,
        ),
        Column::new(
            "workers",
            Unit::Count,
            "Workers there are at the end of the window, faults taken off; empty when unlimited.",
            |w: &WindowService| w.gauge.workers.map(|workers| workers as f64),
        ),
    ]);
    columns
}
