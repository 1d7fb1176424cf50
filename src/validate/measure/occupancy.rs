//! How many there are, over time.

use seawall::Time;
use sim::metrics::JobRecord;

use super::{Run, let_in};

/// A number that steps up and down.
#[derive(Clone, Debug, Default)]
pub struct Occupancy {
    steps: Vec<(Time, i32)>,
}

impl Occupancy {
    /// Jobs in a service, waiting or worked on.
    #[must_use]
    pub fn of_service(run: &Run<'_>, service: usize) -> Occupancy {
        let mut occupancy = Occupancy::default();
        let here = |job: &&JobRecord| job.service as usize == service && let_in(job);
        for job in run.log().jobs.iter().filter(here) {
            occupancy.add(job.arrived, job.left, 1);
        }
        occupancy.sorted()
    }

    /// Calls of all edges that have no attempt in a service: they wait for their next one.
    #[must_use]
    pub fn of_backoff(run: &Run<'_>) -> Occupancy {
        let mut occupancy = Occupancy::default();
        for call in &run.log().calls {
            occupancy.add(call.began, call.ended, 1);
        }
        for job in run.log().jobs.iter().filter(|job| let_in(job)) {
            occupancy.add(job.arrived, job.left, -1);
        }
        occupancy.sorted()
    }

    /// Calls in flight.
    #[must_use]
    pub fn of_calls(run: &Run<'_>) -> Occupancy {
        let mut occupancy = Occupancy::default();
        for call in &run.log().calls {
            occupancy.add(call.began, call.ended, 1);
        }
        occupancy.sorted()
    }

    fn add(&mut self, from: Time, to: Time, by: i32) {
        if from < to {
            self.steps.push((from, by));
            self.steps.push((to, -by));
        }
    }

    fn sorted(mut self) -> Occupancy {
        self.steps.sort_unstable_by_key(|(time, _)| *time);
        self
    }

    /// The time average of `f` of it over the measured time.
    #[must_use]
    pub fn average(&self, run: &Run<'_>, f: impl Fn(i64) -> f64) -> f64 {
        let (from, to) = (run.outcome.measured_from, run.outcome.measured_to);
        let (mut now, mut number, mut sum) = (from, 0i64, 0.0);
        for &(time, by) in &self.steps {
            let until = time.clamp(from, to);
            sum += f(number) * until.since(now).as_secs_f64();
            now = until;
            number += i64::from(by);
        }
        sum += f(number) * to.since(now).as_secs_f64();
        sum / to.since(from).as_secs_f64()
    }

    /// The first instant at or after `from` at which, all steps of that instant done, it is `number`.
    #[must_use]
    pub fn first(&self, from: Time, number: i64) -> Option<Time> {
        let mut here = 0i64;
        for (i, &(time, by)) in self.steps.iter().enumerate() {
            here += i64::from(by);
            let over = self.steps.get(i + 1).is_none_or(|(next, _)| *next > time);
            if over && time >= from && here == number {
                return Some(time);
            }
        }
        None
    }
}
