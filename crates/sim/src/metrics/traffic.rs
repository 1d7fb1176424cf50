//! What is counted for clients, services and edges.

use seawall::{ErrorKind, FailureKind, Phase, Stopped};

use super::counted::{Counted, counters};

/// Number of phases an attempt can fail in.
pub const PHASES: usize = Phase::ALL.len();
/// Number of kinds of error that callers tell apart.
pub const ERRORS: usize = ErrorKind::ALL.len();
/// Number of failure kinds.
pub const KINDS: usize = FailureKind::ALL.len();
/// Number of stop reasons.
pub const STOPS: usize = Stopped::COUNT;

counters! {
    /// Counted for one edge: a caller, a service and the policy between them.
    EdgeCount {
        /// Logical calls begun.
        calls: u64,
        /// Calls that ended well, in time.
        ok: u64,
        /// Calls given up, by reason (index: [`Stopped::index`]).
        stopped: [u64; STOPS],
        /// Calls given up, by what their caller has to tell apart (index: `ErrorKind as usize`).
        errors: [u64; ERRORS],
        /// Calls given up, by the failure of their last attempt (index: `FailureKind as usize`).
        failed: [u64; KINDS],
        /// Attempts sent, first ones included.
        attempts: u64,
        /// Attempts sent that were not the first of their call.
        retries: u64,
        /// Attempts that failed, by kind; a timed-out one is `timeout`.
        attempt_failed: [u64; KINDS],
        /// The same attempts by the phase they failed in (index: `Phase as usize`).
        attempt_failed_in: [u64; PHASES],
        /// Of the retries, attempts of hedged calls.
        hedges: u64,
        /// Tries that the calling side refused, and that were tried again.
        refusals_retried: u64,
        /// Times a breaker went to open.
        openings: u64,
        /// Calls and attempts whose key had no entry of its own under the policy's `scope`, once for each part.
        beyond_cap: u64,
        /// Sum over ended calls of their duration, in ns.
        latency_ns: u128,
    }
}

counters! {
    /// Counted for one client population.
    ClientCount {
        /// Iterations of the program begun.
        iterations: u64,
        /// Iterations in which nothing that was not optional failed.
        iterations_ok: u64,
        /// Iterations in which something did.
        iterations_failed: u64,
    }
}

counters! {
    /// Counted for one service, over all its replicas.
    ServiceCount {
        /// Attempts that reached it.
        arrived: u64,
        /// Of those, the first of their call.
        arrived_first: u64,
        /// Attempts refused because the waiting room was full.
        shed_full: u64,
        /// Jobs dropped from the queue since their deadline had passed.
        shed_expired: u64,
        /// Jobs refused or dropped since they had waited too long.
        shed_waited: u64,
        /// Attempts refused by the rate limit.
        rate_limited: u64,
        /// Attempts refused since no replica was there to take them.
        unreachable: u64,
        /// Replicas that died and were started again.
        restarts: u64,
        /// Probes sent.
        probes: u64,
        /// Probes that are over, well or not, for the caller or not.
        probes_over: u64,
        /// Probes that were not answered well in time.
        probes_failed: u64,
        /// Time integral of the number of replicas that requests are given to, in replica-ns.
        replicas_ns: u128,
        /// Attempts answered with a failure by a fault (errors, refused connections), or rejected for their token.
        faulted: u64,
        /// Jobs lost in an outage or a crash, and attempts that vanished in an outage.
        lost: u64,
        /// Jobs answered well.
        served: u64,
        /// Jobs answered with a failure of their own program.
        failed: u64,
        /// Jobs cancelled because their caller had left.
        cancelled: u64,
        /// Of the jobs answered, those whose caller had left already.
        late: u64,
        /// Worker time spent holding a job, in ns.
        busy_ns: u128,
        /// Of that, time spent for callers that had left.
        wasted_ns: u128,
        /// Worker time of jobs that left after somebody had waited for their answer, in ns.
        useful_ns: u128,
        /// Worker time of jobs that left with nobody waiting for their answer, or without one: all of the
        /// job's, from before the caller left too.
        useless_ns: u128,
        /// Time integral of the number of workers there are, in worker-ns; 0 when they are unlimited.
        workers_ns: u128,
        /// Where jobs share the cores of their replicas: core time spent on them, and core time there was, in ns.
        cores_busy_ns: u128,
        /// See `cores_busy_ns`.
        cores_ns: u128,
        /// Time integral of the number of jobs waiting, in job-ns.
        queue_ns: u128,
        /// Time integral of the number of jobs in the service, in job-ns.
        inside_ns: u128,
        /// Sum over jobs that left the service of their time inside, in ns.
        sojourn_ns: u128,
        /// Sum over jobs that were started of their time waiting, in ns.
        wait_ns: u128,
        /// Jobs started.
        started: u64,
        /// Jobs started that had waited.
        waited: u64,
    }
}

impl EdgeCount {
    /// Calls given up, for any reason.
    #[must_use]
    pub fn failed_calls(&self) -> u64 {
        self.stopped.iter().sum()
    }

    /// Calls begun that have not ended, when counted from the start of the run.
    #[must_use]
    pub fn open_calls(&self) -> u64 {
        self.calls - self.ok - self.failed_calls()
    }
}

impl ServiceCount {
    /// Worker time spent holding jobs, as a share of the worker time there was; where workers are unlimited and jobs share cores,
    /// the same of core time. `None` when neither has a bound, or there was no time.
    #[must_use]
    pub fn utilisation(&self) -> Option<f64> {
        let (busy, all) = match self.workers_ns {
            0 => (self.cores_busy_ns, self.cores_ns),
            workers => (self.busy_ns, workers),
        };
        (all > 0).then(|| busy as f64 / all as f64)
    }

    /// Of the worker time of the jobs that left, the share of those nobody waited for; `None` when no
    /// worker time was spent on jobs that left.
    #[must_use]
    pub fn wasted_share(&self) -> Option<f64> {
        let spent = self.useful_ns + self.useless_ns;
        (spent > 0).then(|| self.useless_ns as f64 / spent as f64)
    }
}
