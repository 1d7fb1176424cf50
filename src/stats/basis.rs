//! What an interval rests on, or why there is none.

/// What an interval rests on, or why there is none.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Basis {
    /// No replication has a value.
    #[default]
    NoData,
    /// Independent replications.
    Replications,
    /// Batch means of the one replication.
    BatchMeans,
    /// None: only one replication has a value, and it was not looked into.
    OneValue,
    /// None: one replication of a world that is not steady.
    NotSteady,
    /// None: one replication with too few windows for batches, or with batches without a value.
    TooShort,
    /// None: the batches of the one replication are correlated.
    Correlated,
    /// None: one replication, and no mean.
    NotAMean,
}

impl Basis {
    /// All of them, with their meaning.
    pub const ALL: [(Basis, &'static str); 8] = [
        (
            Basis::Replications,
            "Student's t over independent replications.",
        ),
        (
            Basis::BatchMeans,
            "Student's t over 20 batches of the only replication.",
        ),
        (
            Basis::OneValue,
            "No interval: only one of several replications has a value.",
        ),
        (
            Basis::NotSteady,
            "No interval: one replication, disturbed, cut short, measured from the empty start (no warm-up), or with arrivals whose rate changes; parts of it differ by more than chance.",
        ),
        (
            Basis::TooShort,
            "No interval: one replication, measured over fewer than 20 windows, or with batches in which nothing was seen.",
        ),
        (
            Basis::Correlated,
            "No interval: the batches of the one replication are alike beyond chance, so it is too short.",
        ),
        (
            Basis::NotAMean,
            "No interval: one replication, and a percentile, an extreme or a state, which batches do not average to.",
        ),
        (Basis::NoData, "No replication has a value."),
    ];

    /// The word used in files.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Basis::NoData => "no_data",
            Basis::Replications => "replications",
            Basis::BatchMeans => "batch_means",
            Basis::OneValue => "none_one_value",
            Basis::NotSteady => "none_not_steady",
            Basis::TooShort => "none_too_short",
            Basis::Correlated => "none_correlated",
            Basis::NotAMean => "none_not_a_mean",
        }
    }
}
