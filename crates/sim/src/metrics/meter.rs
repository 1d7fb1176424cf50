//! What is measured where it happens: one meter per edge, one per service, kept with their state.

use hdrhistogram::Histogram;
use seawall::{FailureKind, Phase, Span, Verdict};

use super::outcome::EdgeLatency;
use super::tally::Tally;
use super::traffic::{EdgeCount, ServiceCount};
use super::window::WindowLatency;

/// Calls with this many attempts or more share the last count.
const ATTEMPTS_MAX: usize = 128;

/// Over the whole run values are exact to one part in a thousand; over one window, to one in a hundred.
type Fine<const KINDS: usize> = Tally<11, KINDS>;
type Coarse = Tally<8, 1>;

/// Kinds in [`EdgeMeter::latency`].
const OK: usize = 0;
const FAILED: usize = 1;
const ATTEMPT: usize = 2;

fn histogram<const KINDS: usize>(tally: &Fine<KINDS>, kinds: &[usize]) -> Histogram<u64> {
    let mut histogram = Histogram::new(3).expect("a valid number of digits");
    for &kind in kinds {
        tally.add_to(kind, &mut histogram);
    }
    histogram
}

/// Counts calls and attempts of one edge. Counts only grow; windows and totals are differences.
#[derive(Clone, Debug)]
pub(crate) struct EdgeMeter {
    /// Since the start of the run.
    pub(crate) count: EdgeCount,
    latency: Fine<3>,
    attempts_per_call: Vec<u64>,
    /// Calls that ended in the open window.
    window: Coarse,
}

impl EdgeMeter {
    pub(crate) fn new() -> Self {
        EdgeMeter {
            count: EdgeCount::default(),
            latency: Fine::new(),
            attempts_per_call: vec![0; ATTEMPTS_MAX + 1],
            window: Coarse::new(),
        }
    }

    /// An attempt that is about to end failed like this.
    #[inline]
    pub(crate) fn attempt_failed(&mut self, kind: FailureKind, phase: Phase) {
        self.count.attempt_failed[kind as usize] += 1;
        self.count.attempt_failed_in[phase as usize] += 1;
    }

    /// An attempt was answered with a failure or given up.
    #[inline]
    pub(crate) fn attempt_ended(&mut self, took: Span) {
        self.latency.record(took.0, ATTEMPT);
    }

    /// A call is over. Ended it well, so did its last attempt with the same answer, which then is counted here unless
    /// it has been already (`None`).
    #[inline(always)]
    pub(crate) fn call_ended(&mut self, took: Span, last_attempt: Option<Span>, verdict: &Verdict) {
        self.count.latency_ns += u128::from(took.0);
        match verdict.stopped {
            None => {
                self.count.ok += 1;
                if last_attempt == Some(took) {
                    self.latency.record_as(took.0, [OK, ATTEMPT]);
                } else {
                    self.latency.record(took.0, OK);
                    if let Some(last_attempt) = last_attempt {
                        self.latency.record(last_attempt.0, ATTEMPT);
                    }
                }
            }
            Some(reason) => {
                self.count.stopped[reason.index()] += 1;
                if let Some(kind) = verdict.last {
                    self.count.failed[kind as usize] += 1;
                }
                if let Some(kind) = verdict.error_kind() {
                    self.count.errors[kind as usize] += 1;
                }
                self.latency.record(took.0, FAILED);
            }
        }
        self.attempts_per_call[(verdict.attempts as usize).min(ATTEMPTS_MAX)] += 1;
        self.window.record(took.0, 0);
    }

    /// Latency of the calls that ended since the last time it was asked for.
    pub(crate) fn close_window(&mut self) -> Option<WindowLatency> {
        let ([p50, p99], max) = self.window.quantiles(0, [0.5, 0.99])?;
        self.window.clear();
        Some(WindowLatency { p50, p99, max })
    }

    /// Measuring begins: what was seen before does not count.
    pub(crate) fn forget_latency(&mut self) {
        self.latency.clear();
        self.attempts_per_call.fill(0);
    }

    pub(crate) fn into_latency(self) -> EdgeLatency {
        EdgeLatency {
            calls: histogram(&self.latency, &[OK, FAILED]),
            ok: histogram(&self.latency, &[OK]),
            attempts: histogram(&self.latency, &[ATTEMPT]),
            attempts_per_call: self.attempts_per_call,
        }
    }
}

/// Counts jobs of one service, over all its replicas.
#[derive(Clone, Debug)]
pub(crate) struct ServiceMeter {
    /// Since the start of the run.
    pub(crate) count: ServiceCount,
    sojourn: Fine<1>,
}

impl ServiceMeter {
    pub(crate) fn new() -> Self {
        ServiceMeter {
            count: ServiceCount::default(),
            sojourn: Fine::new(),
        }
    }

    /// A job was answered after this long in the service.
    #[inline]
    pub(crate) fn answered(&mut self, inside: Span) {
        self.sojourn.record(inside.0, 0);
    }

    /// Measuring begins: what was seen before does not count.
    pub(crate) fn forget_sojourn(&mut self) {
        self.sojourn.clear();
    }

    pub(crate) fn into_sojourn(self) -> Histogram<u64> {
        histogram(&self.sojourn, &[0])
    }
}
