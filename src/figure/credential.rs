//! What is reported about the tokens of a caller. Only worlds with credentials have these subjects.

use sim::metrics::CredentialCount;

use super::column::Column;

type Get = fn(&CredentialCount) -> u64;

/// What is reported about the tokens of one caller, over any time.
#[must_use]
pub fn credentials() -> Vec<Column<CredentialCount>> {
    let counts: [(&str, &str, Get); 8] = [
        ("refreshes", "Requests for a token begun.", |c| c.asked),
        (
            "refreshes_ahead",
            "Of those, the ones begun while the old token was still good.",
            |c| c.ahead,
        ),
        ("refreshes_ok", "Requests that brought a token.", |c| {
            c.issued
        }),
        (
            "refreshes_failed",
            "Requests for a token that failed.",
            |c| c.refused,
        ),
        (
            "credential_waits",
            "Attempts that had to wait for a token.",
            |c| c.waited,
        ),
        (
            "credential_refusals",
            "Of those, the ones that got none.",
            |c| c.turned_away,
        ),
        (
            "credentials_rejected",
            "Attempts whose token the service did not take.",
            |c| c.rejected,
        ),
        (
            "credential_replays",
            "Attempts sent once more with a new token.",
            |c| c.replayed,
        ),
    ];
    let column = |(name, meaning, get): (&str, &str, Get)| Column::count(name, meaning, get);
    counts.into_iter().map(column).collect()
}
