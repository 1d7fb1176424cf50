//! What can be typed after `draws`.

use std::path::PathBuf;

use clap::Args;

/// Print every random number of a run, or find the first one that differs from an earlier tape.
#[derive(Debug, Args)]
pub struct Draws {
    /// A scenario (.yaml, .toml, .json), or the name of a model that comes with the program
    pub file: PathBuf,
    /// Seed of the run [default: as in the scenario]
    #[arg(long, value_name = "N")]
    pub seed: Option<u64>,
    /// Use another value than the scenario says; may be given several times
    #[arg(long = "set", value_name = "PATH=VALUE")]
    pub overrides: Vec<String>,
    /// Print no more than this many
    #[arg(long, value_name = "N", conflicts_with = "against")]
    pub first: Option<u64>,
    /// Print nothing but the first draw that differs from this tape; exit code 1 if there is one
    #[arg(long, value_name = "TAPE")]
    pub against: Option<PathBuf>,
}

pub(super) const EXAMPLES: &str = "\
Examples:
  retrystorm draws my.yaml > before.csv
      draw,time_ns,purpose,of,value: one line for each random number
  retrystorm draws my.yaml --against before.csv
      whether another version, machine or scenario still draws the same, and if not, where it parts
  retrystorm draws my.yaml --set policies.sdk.retry.max_attempts=1 --against before.csv
      which draw is the first that a policy changes";
