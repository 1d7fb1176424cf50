//! What only some worlds have, on the terminal: effects and keys (what was done twice, and what was not done though
//! callers think so), answers, phases, connections and credentials.

use super::Report;
use super::summary::Row;
use super::table::cut;
use super::table::{Align, Table};
use crate::figure::Scope;
use crate::number;

/// A heading of the table of effects with its figure, and whether it is left out where it is zero for all.
const EFFECT: [(&str, &str, bool); 7] = [
    ("done", "effects_committed", false),
    ("duplicates", "effects_duplicate", false),
    ("lost", "effects_lost", false),
    ("unknown", "effects_unknown", false),
    ("hidden", "effects_hidden", true),
    ("half done", "effects_half_done", true),
    ("skipped", "effects_skipped", true),
];

const ANSWERS: [(&str, &str, bool); 14] = [
    ("live", "answers_live", false),
    ("snapshot", "answers_snapshot", true),
    ("generic", "answers_generic", true),
    ("omitted", "answers_omitted", true),
    ("direct", "answers_direct", true),
    ("found", "answers_found", true),
    ("absent", "answers_absent", true),
    ("too old", "answers_too_old", true),
    ("future", "answers_future", true),
    ("missing", "answers_missing", true),
    ("capacity", "answers_capacity", true),
    ("rejected", "answers_rejected", true),
    ("failed", "answers_failed", false),
    ("mean age s", "data_age_mean_s", true),
];

/// Mean times in the phases of an attempt, where there are any.
const PHASES: [(&str, &str, bool); 11] = [
    ("attempts", "ways_begun", false),
    ("credential ms", "credential_mean_ms", true),
    ("pool ms", "pool_mean_ms", true),
    ("dns ms", "dns_mean_ms", true),
    ("connect ms", "connect_mean_ms", true),
    ("tls ms", "tls_mean_ms", true),
    ("send ms", "send_mean_ms", true),
    ("server ms", "server_mean_ms", false),
    ("receive ms", "receive_mean_ms", true),
    ("decode ms", "decode_mean_ms", true),
    ("in all ms", "way_mean_ms", false),
];

const POOL: [(&str, &str, bool); 9] = [
    ("opened", "connections_opened", false),
    ("reused", "connections_reused", false),
    ("open", "connections_open_mean", false),
    ("in use", "connections_in_use_mean", false),
    ("waits", "pool_waits", true),
    ("mean wait ms", "pool_wait_mean_ms", true),
    ("timeouts", "pool_timeouts", true),
    ("resets", "connection_resets", true),
    ("handshakes failed", "handshakes_failed", true),
];

const CREDENTIAL: [(&str, &str, bool); 7] = [
    ("refreshes", "refreshes", false),
    ("ahead", "refreshes_ahead", true),
    ("failed", "refreshes_failed", true),
    ("waits", "credential_waits", false),
    ("got none", "credential_refusals", true),
    ("rejected", "credentials_rejected", true),
    ("sent again", "credential_replays", true),
];

const COALESCE: [(&str, &str, bool); 3] = [
    ("wanted", "coalesce_wanted", false),
    ("made", "coalesce_made", false),
    ("shared", "coalesced", false),
];

const CACHE: [(&str, &str, bool); 8] = [
    ("look-ups", "cache_lookups", false),
    ("hits", "cache_hits", false),
    ("fetches", "cache_fetches", false),
    ("failed", "cache_fetches_failed", true),
    ("waits", "cache_waits", true),
    ("stale", "cache_stale", true),
    ("deleted", "cache_deleted", true),
    ("emptied", "cache_emptied", true),
];

const MESSAGES: [(&str, &str, bool); 11] = [
    ("sent", "messages_sent", false),
    ("completed", "messages_completed", false),
    ("dead", "dead_letters", true),
    ("expired", "messages_expired", true),
    ("deliveries", "deliveries", false),
    ("again", "redeliveries", true),
    ("duplicate", "duplicate_executions", true),
    ("late", "deliveries_late", true),
    ("failed", "deliveries_failed", true),
    ("lost", "deliveries_lost", true),
    ("stopped", "deliveries_stopped", true),
];

const SESSIONS: [(&str, &str, bool); 4] = [
    ("open", "sessions_open_mean", false),
    ("begun", "sessions_begun", false),
    ("ended", "sessions_ended", true),
    ("broken", "sessions_broken", false),
];

const KEYS: [(&str, &str, bool); 6] = [
    ("new", "keys_new", false),
    ("replayed", "keys_replayed", false),
    ("conflicts", "keys_conflicts", false),
    ("in progress", "keys_in_progress", false),
    ("without", "keys_without", true),
    ("taken over", "keys_taken_over", true),
];

/// What is first to be known about effects, where there are any.
pub(super) fn headline(report: &Report<'_>) -> Option<(bool, String)> {
    let rows: Vec<&Row> = report.summary.of_scope(Scope::Effect).collect();
    if rows.is_empty() {
        return None;
    }
    let sum = |figure: &str| -> f64 { rows.iter().filter_map(|row| row.mean(figure)).sum() };
    let (done, again) = (sum("effects_committed"), sum("effects_duplicate"));
    let (lost, unknown) = (sum("effects_lost"), sum("effects_unknown"));
    let n = number::prefixed;
    let words = format!(
        "Of {} effects {} are duplicates; {} are lost; {} are unknown to their callers",
        n(done),
        n(again),
        n(lost),
        n(unknown)
    );
    Some((again + lost > 0.0, words))
}

/// The tables there is something to show in.
pub(super) fn tables(report: &Report<'_>) -> Vec<Table> {
    [
        ("effects", Scope::Effect, &EFFECT[..]),
        ("idempotency keys", Scope::Keys, &KEYS[..]),
        ("answers", Scope::Answers, &ANSWERS[..]),
        ("phases", Scope::Phases, &PHASES[..]),
        ("connections", Scope::Pool, &POOL[..]),
        ("credentials", Scope::Credential, &CREDENTIAL[..]),
        ("shared calls", Scope::Coalesce, &COALESCE[..]),
        ("caches", Scope::Cache, &CACHE[..]),
        ("messages", Scope::Messages, &MESSAGES[..]),
        ("sessions", Scope::Sessions, &SESSIONS[..]),
    ]
    .into_iter()
    .filter_map(|(title, scope, columns)| {
        let rows: Vec<&Row> = report.summary.of_scope(scope).collect();
        (!rows.is_empty()).then(|| table(title, &rows, columns))
    })
    .collect()
}

fn table(title: &'static str, rows: &[&Row], columns: &[(&'static str, &str, bool)]) -> Table {
    let value = |row: &Row, figure: &str| row.mean(figure).unwrap_or(0.0);
    let shown: Vec<_> = columns
        .iter()
        .filter(|(_, figure, if_any)| !if_any || rows.iter().any(|row| value(row, figure) > 0.0))
        .collect();
    let header = shown.iter().map(|(name, ..)| (*name, Align::Point));
    let mut table = Table::new(std::iter::once((title, Align::Left)).chain(header));
    for row in rows {
        let name = cut(&row.subject.name, 28);
        let numbers = shown
            .iter()
            .map(|(_, figure, _)| number::prefixed(value(row, figure)));
        table.row(std::iter::once(name).chain(numbers));
    }
    table
}
