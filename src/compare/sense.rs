//! Which way a figure should go.

use sim::metrics::Leg;

/// Which way a figure should go.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sense {
    /// More is better.
    High,
    /// Less is better.
    Low,
    /// Neither: it says what happened, not whether that was good.
    Neutral,
}

impl Sense {
    /// Of the figure called `name`; `None` for a name that is not known here.
    ///
    /// Kinds of failures and reasons to give up are neutral: a policy moves calls from one to another, and
    /// `calls_failed` says whether there are fewer. So is what merely counts load.
    #[must_use]
    pub fn of(name: &str) -> Option<Sense> {
        Some(match name {
            "success_rate" | "goodput_per_s" | "calls_ok" | "iterations_ok" => Sense::High,
            "calls_failed" | "iterations_failed" | "calls_open" | "retries" | "retry_share"
            | "attempts_failed" | "attempts_per_call" | "amplification" | "failed"
            | "shed_full" | "shed_expired" | "shed_waited" | "unreachable" | "restarts"
            | "probes_failed" | "lost" | "late" | "wasted_share" | "queue_mean" | "queue_max"
            | "waited_share" | "recovery_time_s" => Sense::Low,
            "calls"
            | "calls_per_s"
            | "attempts"
            | "attempts_per_s"
            | "hedges"
            | "refusals_retried"
            | "breaker_openings"
            | "beyond_cap"
            | "iterations"
            | "events"
            | "calls_in_flight_max"
            | "breaker_open_share"
            | "breaker_half_open_share"
            | "arrived"
            | "arrived_per_s"
            | "arrived_first"
            | "arrived_retries"
            | "first_attempts_per_top_call"
            | "started"
            | "served"
            | "served_per_s"
            | "rate_limited"
            | "probes"
            | "replicas_mean"
            | "faulted"
            | "cancelled"
            | "utilisation"
            | "inside_mean" => Sense::Neutral,
            "effects_duplicate" | "effects_lost" | "effects_unknown" | "effects_hidden"
            | "effects_half_done" | "keys_conflicts" | "answers_failed" | "answers_too_old"
            | "answers_future" | "answers_missing" | "answers_capacity" | "answers_rejected"
            | "data_age_mean_s" => Sense::Low,
            "answers_live" => Sense::High,
            "answers_found" | "answers_absent" => Sense::Neutral,
            "answers_snapshot"
            | "answers_generic"
            | "answers_omitted"
            | "answers_direct"
            | "answers_fallback_share" => Sense::Neutral,
            "effects_committed" | "effects_skipped" | "keys_without" | "keys_new"
            | "keys_replayed" | "keys_in_progress" | "keys_polls" | "keys_taken_over" => {
                Sense::Neutral
            }
            "pool_waits"
            | "pool_timeouts"
            | "connection_resets"
            | "handshakes_failed"
            | "pool_waiting_mean"
            | "refreshes_failed"
            | "credential_waits"
            | "credential_refusals"
            | "credentials_rejected"
            | "credential_replays" => Sense::Low,
            _ if name.ends_with("_ms") => Sense::Low,
            // What attempts come by on their way, and what they do with connections.
            "hit_ratio" => Sense::High,
            "cache_fetches_failed" | "cache_deleted" => Sense::Low,
            _ if name.starts_with("cache_") => Sense::Neutral,
            "sessions_broken" => Sense::Low,
            _ if name.starts_with("sessions_") => Sense::Neutral,
            "messages_completed" => Sense::High,
            "messages_sent" | "messages_hidden_mean" | "deliveries" => Sense::Neutral,
            "dead_letters" | "redeliveries" | "duplicate_executions" | "messages_expired" => {
                Sense::Low
            }
            _ if name.starts_with("deliveries_") => Sense::Low,
            "coalesce_wanted" | "coalesce_made" | "coalesced" | "coalesced_share" => Sense::Neutral,
            "ways_begun" | "handshakes" | "refreshes" | "refreshes_ahead" | "refreshes_ok" => {
                Sense::Neutral
            }
            _ if name.starts_with("connections_") || name.ends_with("_entered") => Sense::Neutral,
            _ if Leg::ALL
                .iter()
                .any(|leg| name.strip_suffix("_failed") == Some(leg.name())) =>
            {
                Sense::Low
            }
            _ if ["stopped_", "errors_", "calls_failed_", "attempts_failed_"]
                .iter()
                .any(|kind| name.starts_with(kind)) =>
            {
                Sense::Neutral
            }
            _ => return None,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::figure::Scope;

    #[test]
    fn every_figure_of_a_run_has_a_sense() {
        for scope in Scope::ALL {
            for figure in scope.whole() {
                assert!(
                    Sense::of(figure.name).is_some(),
                    "say in {} whether more of {} is better",
                    file!(),
                    figure.name
                );
            }
        }
        assert_eq!(Sense::of("no_such_figure"), None);
    }
}
