//! What can be typed after `sweep`.

use std::path::PathBuf;

use clap::Args;

use super::Format;

/// Run an experiment: every point of its grid.
#[derive(Debug, Args)]
pub struct Sweep {
    /// An experiment (.yaml, .toml, .json), the name of one that comes with the program, or `-` for standard input
    pub file: PathBuf,
    /// Seed of the first replication at every point; the others count on from it [default: as in the
    /// experiment, or else in its scenario]
    #[arg(long, value_name = "N")]
    pub seed: Option<u64>,
    /// How many times to run each point, with consecutive seeds [default: as in the experiment]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub replications: Option<u32>,
    /// Threads; results do not depend on it [default: one per core]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..))]
    pub jobs: Option<u16>,
    /// Where to write [default: output/NAME]
    #[arg(long, value_name = "DIR")]
    pub out: Option<PathBuf>,
    /// Use another value than the scenario says at every point; may be given several times
    #[arg(long = "set", value_name = "PATH=VALUE")]
    pub overrides: Vec<String>,
    /// What to print on standard output
    #[arg(long, default_value = "text")]
    pub format: Format,
    /// Draw no plots
    #[arg(long)]
    pub no_plots: bool,
    /// Run everything again, even what an interrupted sweep has finished
    #[arg(long)]
    pub fresh: bool,
}

pub(super) const EXAMPLES: &str = "\
An interrupted sweep (Ctrl-C, a crash) goes on where it stopped when the same command is given again; runs of
another version, another scenario or another seed are never taken over.

Examples:
  retrystorm sweep metastable-map
      an experiment that comes with the program; results go to output/metastable-map/
  retrystorm sweep my.yaml --replications 10 --jobs 4
      ten seeds at every point on four threads; the files are the same for any number of threads
  retrystorm sweep my.yaml --set run.duration=30s --replications 1
      a quick look first
  retrystorm sweep my.yaml --format csv > points.csv
      one row per point and measure; nothing but the table is on standard output";
