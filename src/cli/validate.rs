//! What can be typed after `validate`.

use clap::{Args, ValueEnum};

/// Run reference cases whose answers are known from elsewhere, and compare.
#[derive(Debug, Args)]
pub struct Validate {
    /// Cases or families of cases [default: a quick selection]
    #[arg(value_name = "CASE")]
    pub cases: Vec<String>,
    /// All cases, each as long as it takes to be precise (minutes)
    #[arg(long)]
    pub full: bool,
    /// Threads; results do not depend on it [default: one per core]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..))]
    pub jobs: Option<u16>,
    /// Another set of random numbers
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub seed: u64,
    /// Print the scenarios that the cases become, and run nothing
    #[arg(long)]
    pub show: bool,
    /// Leave out what agrees
    #[arg(long)]
    pub brief: bool,
    /// How to print the findings
    #[arg(long, default_value = "text")]
    pub format: FindingFormat,
}

/// How to print findings.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum FindingFormat {
    /// A table for people, as the cases are done
    Text,
    /// A list of cases
    Json,
    /// One row per known value
    Csv,
    /// The tables of docs/validation.md
    Markdown,
}

pub(super) const EXAMPLES: &str = "\
Examples:
  retrystorm validate
      a quick selection, within a minute or so
  retrystorm validate --full --brief
      everything; only what differs is shown in detail
  retrystorm validate mm1 retrial-mm22-rho07
      all cases of a family, and one by name
  retrystorm validate pf-retry-3x-c4 --show
      the scenario that is compared with theory, as you would write it";
