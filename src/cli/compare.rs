//! What can be typed after `compare`.

use std::path::PathBuf;

use clap::Args;

use super::Format;

/// Run several worlds with the same random numbers and say how they differ.
#[derive(Debug, Args)]
pub struct Compare {
    /// Scenarios, or names of models that come with the program; all are compared with the first
    #[arg(required = true, value_name = "FILE")]
    pub files: Vec<PathBuf>,
    /// A variant of the one scenario: `PATH=VALUE`, or `NAME: PATH=VALUE; PATH=VALUE`; may be given several
    /// times
    #[arg(long, value_name = "VARIANT")]
    pub with: Vec<String>,
    /// Use another value in every world; may be given several times
    #[arg(long = "set", value_name = "PATH=VALUE")]
    pub overrides: Vec<String>,
    /// Seed of the first replication in every world; the others count on from it [default: as in the
    /// first scenario]
    #[arg(long, value_name = "N")]
    pub seed: Option<u64>,
    /// How many times to run each world [default: as in the scenarios, at least 10]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub replications: Option<u32>,
    /// Threads; results do not depend on it [default: one per core]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..))]
    pub jobs: Option<u16>,
    /// Where to write [default: output/compare-NAME-NAME…]
    #[arg(long, value_name = "DIR")]
    pub out: Option<PathBuf>,
    /// What to print on standard output
    #[arg(long, default_value = "text")]
    pub format: Format,
    /// Draw no plot
    #[arg(long)]
    pub no_plots: bool,
}

pub(super) const EXAMPLES: &str = "\
Examples:
  retrystorm compare metastable metastable-budget metastable-breaker
      three shipped models; the others are compared with the first
  retrystorm compare my.yaml --with policies.sdk.retry.max_attempts=1
      a scenario as it is, and with one value changed
  retrystorm compare my.yaml --with 'budget: policies.sdk.budget={ratio: {percent: 10%, burst: 10}}' \\
      --with 'patient: policies.sdk.attempt_timeout=400ms; policies.sdk.deadline=2s'
      variants with names, and with several changes
  retrystorm compare old.yaml new.yaml --replications 30 --format csv | grep call_p99_ms
      every figure with its paired 95 % interval

Promises in `expect` are not checked: a variant is often made to break one.";
