//! What can be promised.

use std::fmt;

/// What a metric's numbers are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unit {
    /// A number of things.
    Count,
    /// A part of a whole, 0 to 1.
    Share,
    /// Things per second.
    Rate,
    /// Seconds.
    Time,
    /// How many of one per other.
    Factor,
    /// One of [`Verdict::NAMES`](crate::verdict::Verdict::NAMES), by its index.
    Verdict,
}

impl Unit {
    /// What a value must look like.
    pub(super) const fn example(self) -> &'static str {
        match self {
            Unit::Count => "a whole number such as 64",
            Unit::Share => "a share such as 99% or 0.99",
            Unit::Rate => "a rate such as 95/s",
            Unit::Time => "a length of time such as 250ms",
            Unit::Factor => "a number such as 1.2",
            Unit::Verdict => "`healthy`, `degraded`, `recovered` or `metastable`",
        }
    }

    /// `value` as people write it.
    #[must_use]
    pub fn show(self, value: f64) -> String {
        struct Rounded(f64);
        impl fmt::Display for Rounded {
            /// Four significant digits at most, without trailing zeros.
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                let mut decimals = 3;
                let mut bound = 10.0;
                while decimals > 0 && self.0.abs() >= bound {
                    decimals -= 1;
                    bound *= 10.0;
                }
                let text = format!("{:.decimals$}", self.0);
                let text = if text.contains('.') {
                    text.trim_end_matches('0').trim_end_matches('.')
                } else {
                    &text
                };
                f.write_str(text)
            }
        }
        match self {
            Unit::Count if value.fract() == 0.0 => format!("{value}"),
            Unit::Count | Unit::Factor => Rounded(value).to_string(),
            Unit::Share => format!("{}%", Rounded(value * 100.0)),
            Unit::Rate => format!("{}/s", Rounded(value)),
            Unit::Time if value == 0.0 => "0s".into(),
            Unit::Time if value < 0.001 => format!("{}us", Rounded(value * 1e6)),
            Unit::Time if value < 1.0 => format!("{}ms", Rounded(value * 1e3)),
            Unit::Time => format!("{}s", Rounded(value)),
            Unit::Verdict => {
                let names = crate::verdict::Verdict::NAMES;
                names.get(value as usize).copied().unwrap_or("none").into()
            }
        }
    }
}

/// What a metric may be of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Of {
    /// The calls of a client, of an edge `caller -> service`, or of all clients if nothing is named.
    Calls,
    /// What a service does.
    Service,
    /// Either: sent by a client or over an edge, or reaching a service.
    CallsOrService,
    /// The run as a whole; nothing is named.
    Run,
    /// An effect, `(service, effect)`; all effects of a service, or all there are if nothing is named.
    Effects,
    /// A service that remembers idempotency keys.
    Keys,
    /// The program of a client, from its beginning to its end; of all clients if nothing is named.
    Programs,
}

macro_rules! metrics {
    ($($(#[doc = $doc:literal])* $metric:ident $name:literal $unit:ident $of:ident;)*) => {
        /// What can be promised. Each holds over the measured time or, with `from` and `to`, over the windows
        /// between the two.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum Metric { $($(#[doc = $doc])* $metric,)* }

        impl Metric {
            /// All of them, in the order they are documented in.
            pub const ALL: &'static [Metric] = &[$(Metric::$metric,)*];

            /// The word in a promise.
            #[must_use]
            pub const fn name(self) -> &'static str {
                match self { $(Metric::$metric => $name,)* }
            }

            /// What its numbers are.
            #[must_use]
            pub const fn unit(self) -> Unit {
                match self { $(Metric::$metric => Unit::$unit,)* }
            }

            /// What it may be of.
            #[must_use]
            pub const fn of(self) -> Of {
                match self { $(Metric::$metric => Of::$of,)* }
            }

            /// What it is.
            #[must_use]
            pub fn doc(self) -> &'static str {
                match self { $(Metric::$metric => concat!($($doc, "\n"),*).trim(),)* }
            }
        }
    };
}

metrics! {
    /// Healthy, degraded, recovered or metastable.
    Verdict "verdict" Verdict Run;
    /// From the end of the trigger until all was well for good; a run that never was breaks the promise.
    RecoveryTime "recovery_time" Time Run;
    /// Logical calls begun.
    Calls "calls" Count Calls;
    /// Calls answered well and in time, of those that ended.
    SuccessRate "success_rate" Share Calls;
    /// Calls answered well and in time.
    Goodput "goodput" Rate Calls;
    /// Logical calls begun, per second: the load offered.
    Load "load" Rate Calls;
    /// Calls given up; with a second name, for that reason: `stopped(web, budget_empty)`.
    Stopped "stopped" Count Calls;
    /// Calls whose last attempt failed; with a second name, in that way: `failures(web, timeout)`.
    Failures "failures" Count Calls;
    /// Calls still open when the drain ended.
    Open "open" Count Calls;
    /// Runs of a client's whole program that ended, however many calls each makes: pages, jobs, turns of a loop.
    Iterations "iterations" Count Programs;
    /// Of those, the ones that ended well.
    IterationSuccess "iteration_success" Share Programs;
    /// Attempts, first ones included: sent by a client or over an edge, or reaching a service.
    Attempts "attempts" Count CallsOrService;
    /// Attempts that were not the first of their call: sent, or reaching a service.
    Retries "retries" Count CallsOrService;
    /// Of those, attempts of hedged calls.
    Hedges "hedges" Count Calls;
    /// Tries that the calling side refused, and that were tried again.
    RefusalsRetried "refusals_retried" Count Calls;
    /// Times a breaker went to open.
    Openings "breaker_openings" Count Calls;
    /// Calls and attempts whose key had no entry of its own under the policy's `scope`.
    BeyondCap "beyond_cap" Count Calls;
    /// Attempts sent ÷ calls begun.
    AttemptsPerCall "attempts_per_call" Factor Calls;
    /// Mean duration of calls, however they ended; of jobs answered, for a service.
    Mean "mean" Time CallsOrService;
    /// Median duration of calls, however they ended; of the time inside of jobs answered, for a service. With
    /// `from` and `to`: the largest of the windows in between.
    P50 "p50" Time CallsOrService;
    /// 90th percentile, likewise.
    P90 "p90" Time CallsOrService;
    /// 99th percentile, likewise.
    P99 "p99" Time CallsOrService;
    /// 99.9th percentile, likewise.
    P999 "p99.9" Time CallsOrService;
    /// Longest, likewise.
    Max "max" Time CallsOrService;
    /// Breakers that are open, of those there are, mean over ends of windows.
    BreakerOpen "breaker_open" Share Calls;
    /// Attempts reaching the service ÷ logical calls begun by clients.
    Amplification "amplification" Factor Service;
    /// Worker time spent ÷ worker time there is; of jobs that share cores, core time.
    Utilisation "utilisation" Share Service;
    /// Worker time spent on answers that nobody waited for ÷ worker time spent.
    Wasted "wasted" Share Service;
    /// Jobs answered well.
    Served "served" Count Service;
    /// Attempts refused since the waiting room was full, and jobs that left it since their deadline had passed or
    /// they had waited too long.
    Shed "shed" Count Service;
    /// Attempts refused by the rate limit.
    RateLimited "rate_limited" Count Service;
    /// Attempts refused since no replica was there to take them.
    Unreachable "unreachable" Count Service;
    /// Replicas that died and were started again.
    Restarts "restarts" Count Service;
    /// Probes that were not answered well in time.
    ProbesFailed "probes_failed" Count Service;
    /// Jobs lost in an outage or a crash, and attempts that vanished in an outage.
    Lost "lost" Count Service;
    /// Replicas that requests were given to, mean over time.
    Replicas "replicas" Factor Service;
    /// Jobs answered after their caller had left.
    Late "late" Count Service;
    /// Jobs cancelled because their caller had left.
    Cancelled "cancelled" Count Service;
    /// The most jobs that waited at once, all replicas.
    QueueMax "queue_max" Count Service;
    /// Jobs waiting, mean over time, all replicas.
    QueueMean "queue_mean" Factor Service;
    /// Calls with a fallback, by where their answer came from: `answers(web -> api, snapshot)`; without a second name,
    /// all that were answered, by whatever means.
    Answers "answers" Count Calls;
    /// Mean age of the snapshots that were served.
    DataAge "data_age" Time Calls;
    /// Mean time that an attempt spends in one phase: `phase_time(web -> api, connect)`; without a second name, on all of
    /// its way. Over links with `phases` or a `pool`.
    PhaseTime "phase_time" Time Calls;
    /// Attempts that failed or were given up in one phase: `phase_failures(web -> api, pool)`; without a second name, in
    /// any.
    PhaseFailures "phase_failures" Count Calls;
    /// Connections opened.
    ConnectionsOpened "connections_opened" Count Calls;
    /// Attempts that got a connection which was open already.
    ConnectionsReused "connections_reused" Count Calls;
    /// Connections open, mean over time, all processes.
    ConnectionsOpen "connections_open" Factor Calls;
    /// Handshakes that failed or were given up.
    HandshakesFailed "handshakes_failed" Count Calls;
    /// Attempts that had to wait for a connection.
    PoolWaits "pool_waits" Count Calls;
    /// Attempts that had waited for a connection as long as they may.
    PoolTimeouts "pool_timeouts" Count Calls;
    /// Requests that met a connection which the service had closed.
    ConnectionResets "connection_resets" Count Calls;
    /// Calls that shared one which was under way already: `coalesced(pages -> db)`.
    Coalesced "coalesced" Count Calls;
    /// Look-ups in the caches of a service that found what they wanted: `hit_ratio(pages)`.
    HitRatio "hit_ratio" Share Service;
    /// Look-ups that found nothing and went for it.
    Fetches "fetches" Count Service;
    /// Look-ups that found nothing and waited for another one's fetch.
    CacheWaits "cache_waits" Count Service;
    /// Messages that a queue kept: `messages_sent(orders)`.
    MessagesSent "messages_sent" Count Service;
    /// Times a consumer fetched a message.
    Deliveries "deliveries" Count Service;
    /// Deliveries ÷ messages kept.
    DeliveriesPerMessage "deliveries_per_message" Factor Service;
    /// Deliveries of messages that had been fetched before.
    Redeliveries "redeliveries" Count Service;
    /// Of those, the ones that began while another consumer was at the same message, or had ended it without its being
    /// deleted.
    DuplicateExecutions "duplicate_executions" Count Service;
    /// Messages that a consumer dealt with and deleted.
    MessagesCompleted "messages_completed" Count Service;
    /// Deliveries that ended well and deleted nothing.
    DeliveriesLate "deliveries_late" Count Service;
    /// Messages given up after as many deliveries as there may be.
    DeadLetters "dead_letters" Count Service;
    /// Messages dropped because of their age.
    MessagesExpired "messages_expired" Count Service;
    /// Messages that a consumer had, or that were to come back later, mean over time.
    MessagesHidden "messages_hidden" Factor Service;
    /// Sessions begun with a service.
    SessionsBegun "sessions_begun" Count Service;
    /// Sessions that broke: with their replica, or since it gave no sign of life.
    SessionsBroken "sessions_broken" Count Service;
    /// Sessions open, mean over time: `sessions_open(gateway) >= 7900 from 60s`.
    SessionsOpen "sessions_open" Factor Service;
    /// Requests for tokens begun by the caller.
    Refreshes "refreshes" Count Calls;
    /// Requests for tokens that failed.
    RefreshesFailed "refreshes_failed" Count Calls;
    /// Attempts that had to wait for a token.
    CredentialWaits "credential_waits" Count Calls;
    /// Attempts whose token the service did not take.
    CredentialsRejected "credentials_rejected" Count Calls;
    /// Times effects were done, duplicates included: `effects(orders, order)`.
    Effects "effects" Count Effects;
    /// Times effects were done that had been done already for the same call.
    DuplicateEffects "duplicate_effects" Count Effects;
    /// Effects that are missing though the caller was told that all went well.
    LostEffects "lost_effects" Count Effects;
    /// Calls that failed after an attempt without an answer, once for each effect they may have had.
    UnknownEffects "unknown_effects" Count Effects;
    /// Effects, duplicates left out, of calls that did not end well.
    HiddenEffects "hidden_effects" Count Effects;
    /// Effects that are missing in calls that did not end well and had other effects or items done.
    HalfDoneEffects "half_done_effects" Count Effects;
    /// Effects not done again because their key was recorded with them.
    SkippedEffects "skipped_effects" Count Effects;
    /// Requests that got the answer given before to their key.
    Replayed "replayed" Count Keys;
    /// Requests refused since their key was known with another body.
    KeyConflicts "key_conflicts" Count Keys;
    /// Requests whose key was being worked on.
    KeysInProgress "keys_in_progress" Count Keys;
}
