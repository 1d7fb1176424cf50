//! The words that cases use for what they know, and how each is read off a run.
//!
//! The station is the first service, its edge the first edge; `W` and `Wq` are of attempts that were let in.

use sim::metrics::{JobEnd, JobRecord};

use super::{Occupancy, Run, inside, let_in, waited};
use crate::stats::series;

/// The value of a metric by its name; `None` for a name that means nothing here.
///
/// `X_qQ`, `X_var` and `X_second` are quantile, variance and raw second moment of a series `X`.
#[must_use]
pub fn named(run: &Run<'_>, name: &str) -> Option<f64> {
    if let Some((base, what)) = name.rsplit_once('_')
        && let Some(values) = series_named(run, base)
    {
        if let Some(q) = what.strip_prefix('q').and_then(|q| q.parse().ok()) {
            return Some(series::quantile(&mut { values }, q));
        }
        match what {
            "var" => return Some(series::variance(&values)),
            "second" => return Some(series::second_moment(&values)),
            "scv" => return Some(series::scv(&values)),
            _ => {}
        }
    }
    if let Some(values) = series_named(run, name) {
        return Some(series::mean(&values));
    }
    station(run, name)
        .or_else(|| retries(run, name))
        .or_else(|| numbered(run, name))
        .or_else(|| super::discipline::named(run, name))
}

/// Whether a metric of this name can be read off a run; for tests.
#[must_use]
pub fn known(run: &Run<'_>, name: &str) -> bool {
    named(run, name).is_some()
}

/// Values one by one, in seconds.
fn series_named(run: &Run<'_>, name: &str) -> Option<Vec<f64>> {
    let accepted = || run.jobs(0).filter(|job| let_in(job));
    let started = || run.jobs(0).filter(|job| job.started.is_some());
    Some(match name {
        "W" | "attempt_response" => accepted().map(inside).collect(),
        "Wq" => started().map(waited).collect(),
        "W_total" => run.jobs(0).map(inside).collect(),
        "mean_wait_all" => accepted().map(waited).collect(),
        "end_to_end" | "mean_end_to_end" => run
            .calls(0)
            .map(|call| call.ended.since(call.began).as_secs_f64())
            .collect(),
        "departure" => departures(run),
        _ => return None,
    })
}

/// Times between departures from the station.
fn departures(run: &Run<'_>) -> Vec<f64> {
    let mut left: Vec<_> = run
        .log()
        .jobs
        .iter()
        .filter(|job| job.service == 0 && let_in(job) && run.measures(job.left))
        .map(|job| job.left)
        .collect();
    left.sort_unstable();
    left.windows(2)
        .map(|pair| pair[1].since(pair[0]).as_secs_f64())
        .collect()
}

/// What a station does, over time and per arrival.
fn station(run: &Run<'_>, name: &str) -> Option<f64> {
    let seconds = run.seconds();
    let count = &run.outcome.totals.services[0];
    let service = &run.scenario.services[0];
    let workers = f64::from(service.concurrency.unwrap_or(u32::MAX)) * f64::from(service.replicas);
    let places = service
        .queue
        .capacity
        .map(|queue| i64::from(queue) + i64::from(service.concurrency.unwrap_or(0)));
    let per_second = |nanos: u128| nanos as f64 / 1e9 / seconds;
    let arrived = count.arrived as f64;
    Some(match name {
        "util" => per_second(count.busy_ns) / workers,
        "idle" => 1.0 - per_second(count.busy_ns) / workers,
        "mean_busy" | "mean_busy_threads" => per_second(count.busy_ns),
        "L" | "mean_in_station" | "mean_in_system" => per_second(count.inside_ns),
        "Lq" | "mean_queue" | "queue_mean" => per_second(count.queue_ns),
        "p_wait" | "sigma_p_wait" | "p_wait_station" => {
            Run::share(run.jobs(0).filter(|job| let_in(job)), |job| {
                waited(job) > 0.0
            })
        }
        "p_block" | "p_block_any_attempt" => {
            Run::share(run.jobs(0), |job| job.end == JobEnd::ShedFull)
        }
        "p_dropped" => Run::share(run.jobs(0), |job| job.end == JobEnd::ShedExpired),
        "p_late" => Run::share(run.jobs(0), late),
        "throughput" => count.served as f64 / seconds,
        "served_fraction" => (count.served + count.failed) as f64 / arrived,
        "success_fraction" => count.served as f64 / arrived,
        "attempt_rate" => arrived / seconds,
        "zombie_rate" => count.late as f64 / seconds,
        "wasted_fraction" => count.late as f64 / (count.served + count.failed) as f64,
        "departure_lag1_autocorr" => series::lag1_autocorrelation(&departures(run)),
        "p_empty" => Occupancy::of_service(run, 0).average(run, |n| f64::from(u8::from(n == 0))),
        "p_full" => {
            let places = places?;
            Occupancy::of_service(run, 0).average(run, |n| f64::from(u8::from(n >= places)))
        }
        _ => return None,
    })
}

/// What clients do and get.
fn retries(run: &Run<'_>, name: &str) -> Option<f64> {
    let seconds = run.seconds();
    let whole = &run.outcome.drained.edges[0];
    let in_time = &run.outcome.totals.edges[0];
    Some(match name {
        "amplification" => whole.attempts as f64 / whole.calls as f64,
        "p_success" | "p_served" => Run::share(run.calls(0), |call| call.stopped.is_none()),
        "goodput" => in_time.ok as f64 / seconds,
        "retry_rate" => in_time.retries as f64 / seconds,
        "p_block_retry" => {
            let again = run.jobs(0).filter(|job| job.attempt > 1);
            Run::share(again, |job| job.end == JobEnd::ShedFull)
        }
        "mean_in_backoff" | "orbit_mean" => Occupancy::of_backoff(run).average(run, |n| n as f64),
        "orbit_var" => {
            let orbit = Occupancy::of_backoff(run);
            let mean = orbit.average(run, |n| n as f64);
            orbit.average(run, |n| (n as f64 - mean) * (n as f64 - mean))
        }
        "mean_live" => Occupancy::of_calls(run).average(run, |n| n as f64),
        _ => return None,
    })
}

/// Names that end in a number: of a class, an attempt, a station, or a level.
fn numbered(run: &Run<'_>, name: &str) -> Option<f64> {
    let digits = name.len() - name.trim_end_matches(|c: char| c.is_ascii_digit()).len();
    let (base, number) = name.split_at(name.len() - digits);
    let number: usize = number.parse().ok()?;
    Some(match base {
        "L_s" => {
            let name = format!("s{number}");
            let index = run.scenario.services.iter().position(|s| s.name == name)?;
            run.outcome.totals.services[index].inside_ns as f64 / 1e9 / run.seconds()
        }
        "p_block_attempt" => {
            let these = run.jobs(0).filter(|job| job.attempt as usize == number);
            Run::share(these, |job| job.end == JobEnd::ShedFull)
        }
        "p_L_ge_" => {
            let level = number as i64;
            Occupancy::of_service(run, 0).average(run, |n| f64::from(u8::from(n >= level)))
        }
        "W_class" => series::mean(&class(run, number).map(inside).collect::<Vec<_>>()),
        "Wq_class" => series::mean(&class(run, number).map(waited).collect::<Vec<_>>()),
        _ => return None,
    })
}

/// Jobs of the `n`-th client.
fn class<'r>(run: &Run<'r>, n: usize) -> impl Iterator<Item = &'r JobRecord> {
    run.jobs(0).filter(move |job| job.edge as usize == n)
}

fn late(job: &&JobRecord) -> bool {
    job.late && matches!(job.end, JobEnd::Served | JobEnd::Failed)
}
