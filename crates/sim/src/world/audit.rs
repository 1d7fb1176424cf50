//! The laws every run must keep, checked after each of them.
//!
//! They are identities, not statistics: a broken one is a bug in the kernel, whatever the scenario.

use super::World;
use super::job::Origin;
use super::task::Task;
use crate::metrics::ServiceCount;

impl World {
    /// Checks the conservation laws over the whole run.
    ///
    /// # Panics
    /// When one is broken, naming the law, the place and the seed.
    pub(super) fn audit(&mut self) {
        self.settle();
        let broken = self.broken_laws();
        assert!(
            broken.is_empty(),
            "bug in the kernel (seed {}, at {}): {}",
            self.seed,
            seawall::Span(self.now.0),
            broken.join("; ")
        );
    }

    fn broken_laws(&self) -> Vec<String> {
        let mut broken = Vec::new();
        let mut open = vec![0u64; self.edges.len()];
        for call in self.tasks.iter().filter_map(|(_, task)| task.call) {
            open[call.edge as usize] += 1;
        }
        for ((edge, state), open) in self.scenario.edges.iter().zip(&self.edges).zip(open) {
            let count = &state.meter.count;
            let name = || self.scenario.edge_name(edge);
            let ended = count.ok + count.failed_calls();
            if count.calls != ended + open {
                broken.push(format!(
                    "each call ends once: {} began {} calls, {ended} ended, {open} are open",
                    name(),
                    count.calls
                ));
            }
            let errors = count.errors.iter().sum::<u64>();
            if errors != count.failed_calls() {
                broken.push(format!(
                    "each call given up is one error: {} has {errors} and {} of them",
                    name(),
                    count.failed_calls()
                ));
            }
            if count.attempts < count.retries || count.attempts - count.retries > count.calls {
                broken.push(format!(
                    "first attempts are at most calls: {} sent {} attempts, {} retries, for {} calls",
                    name(),
                    count.attempts,
                    count.retries,
                    count.calls
                ));
            }
        }
        for (edge, state) in self.scenario.edges.iter().zip(&self.edges) {
            let count = &state.meter.count;
            let (sent, failed) = state.attempts_of_engines(&self.engines);
            let seen = count.attempt_failed.iter().sum::<u64>();
            if (sent, failed) != (count.attempts, seen) || count.hedges > count.retries {
                broken.push(format!(
                    "the engines of {} count what the kernel counts: {sent} attempts and {}, {failed} failed and {seen}, \
                     {} hedges of {} retries",
                    self.scenario.edge_name(edge),
                    count.attempts,
                    count.hedges,
                    count.retries
                ));
            }
        }
        let begun: u64 = self.clients.iter().map(|c| c.count.iterations).sum();
        let ended: u64 = (self.clients.iter())
            .map(|c| c.count.iterations_ok + c.count.iterations_failed)
            .sum();
        if begun != ended + self.iterations_open {
            broken.push(format!(
                "each iteration ends once: {begun} began, {ended} ended, {} are open",
                self.iterations_open
            ));
        }
        for (i, state) in self.services.iter().enumerate() {
            let service = &self.scenario.services[i].name;
            let count = &state.meter.count;
            let ServiceCount {
                served,
                failed,
                cancelled,
                lost,
                ..
            } = count;
            let turned_away =
                count.shed_full + count.shed_expired + count.shed_waited + count.faulted;
            let refused = count.rate_limited + count.unreachable;
            let (mut inside, mut so_far) = (0, 0);
            for (_, job) in self.jobs_inside(i as u32) {
                inside += u64::from(!job.answered);
                so_far += u128::from(self.now.since(job.arrived).0);
            }
            let ended =
                count.probes_over + turned_away + refused + served + failed + cancelled + lost;
            let (deliveries, delivered) = self.deliveries(i);
            let ended = ended + delivered;
            if count.arrived + count.probes + deliveries != ended + inside {
                broken.push(format!(
                    "each attempt that arrives ends once: {service} saw {} arrive, {ended} end, \
                     {inside} are inside",
                    count.arrived + count.probes + deliveries
                ));
            }
            // Little's law as an identity: the integral of the number inside is the sum of the times inside.
            if count.inside_ns != count.sojourn_ns + so_far {
                broken.push(format!(
                    "Little's law: the jobs inside {service} sum to {} job-ns, their times inside to {}",
                    count.inside_ns,
                    count.sojourn_ns + so_far
                ));
            }
        }
        if let Some(effects) = &self.effects {
            let open = |id| self.tasks.get(id).is_some_and(|task| task.job().is_some());
            let calls = self.tasks.iter().filter(|(_, task)| task.call.is_some());
            broken.extend(effects.broken_laws(calls.map(|(id, _)| id), open));
        }
        if let Some(fallbacks) = &self.fallbacks {
            let open = self.tasks.iter().filter_map(|(_, task)| task.call);
            broken.extend(fallbacks.broken_laws(open.map(|call| call.site)));
        }
        if let Some(passages) = &self.passages {
            let calls = |id| self.tasks.get(id).is_some_and(|task| task.call.is_some());
            broken.extend(passages.broken_laws(calls));
        }
        if let Some(coalescing) = &self.coalescing {
            let calls = |id| self.tasks.get(id).is_some_and(|task| task.call.is_some());
            broken.extend(coalescing.broken_laws(calls));
        }
        if let Some(caches) = &self.caches {
            let fetches = |id| self.tasks.get(id).is_some_and(|task| task.has_blocks());
            broken.extend(caches.broken_laws(fetches));
        }
        if let Some(sessions) = &self.sessions {
            broken.extend(sessions.broken_laws(|id| self.tasks.contains(id)));
        }
        if let Some(messages) = &self.messages {
            let delivers = |task: &Task| {
                let job = task.job().filter(|job| job.origin == Origin::Delivery);
                job.filter(|job| !job.answered).map(|job| job.service)
            };
            let inside = |service| {
                let all = self.tasks.iter().filter_map(|(_, task)| delivers(task));
                all.filter(|of| *of == service).count() as u64
            };
            let works = |id| {
                self.tasks
                    .get(id)
                    .is_some_and(|task| delivers(task).is_some())
            };
            broken.extend(messages.broken_laws(inside, works));
        }
        if let Some(credentials) = &self.credentials {
            broken.extend(credentials.broken_laws(|keeper| self.errands(keeper)));
        }
        broken
    }
}
