//! The cases that are run when nobody says which: every kind of model, in about a minute.

/// Their names.
pub const CASES: &[&str] = &[
    "backoff-moments",
    "breaker-5-2s",
    "closed-10-brooker",
    "dd1-overload-drain",
    "dm1-rho08",
    "erlangb-a8-c10",
    "feedback-unlimited",
    "md1-rho08",
    "mm1-rho05",
    "mmc-c5-a2.5-brooker",
    "pf-retry-3x-c4",
    "prio-np-2class",
    "prio-pr-2class",
    "rng-open",
    "tandem-3",
];
