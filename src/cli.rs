//! What can be typed.

pub mod compare;
pub mod draws;
pub mod sweep;
pub mod trace;
pub mod validate;

use std::path::PathBuf;

use crate::precision;
use clap::{Args, Parser, Subcommand, ValueEnum};
use clap_complete::Shell;

pub use sweep::Sweep;

/// Simulate retry storms: how many attempts reach the bottom, whether the world recovers, and which
/// policy keeps it up.
#[derive(Debug, Parser)]
#[command(name = "retrystorm", version, max_term_width = 100, after_help = EXIT_CODES)]
pub struct Cli {
    /// What to do.
    #[command(subcommand)]
    pub command: Command,
    /// How to talk meanwhile.
    #[command(flatten)]
    pub talk: Talk,
}

const EXIT_CODES: &str = "\
Exit codes:
  0    done, and every promise kept
  1    a promise in `expect` was broken, or `check --deny-advice` or `draws --against` found something
  2    wrong input
  3    a file could not be read or written
  4    a limit ended a run
  5    less sure than asked for
  101  a bug in retrystorm
  130  interrupted";

/// How to talk meanwhile.
#[derive(Clone, Copy, Debug, Args)]
#[command(next_help_heading = "What is printed")]
pub struct Talk {
    /// Print no results and no progress, only errors
    #[arg(short, long, global = true)]
    pub quiet: bool,
    /// Show no progress bar (it is only ever shown on a terminal)
    #[arg(long, global = true)]
    pub no_progress: bool,
    /// Use no colour (as the variable NO_COLOR does; colour is only ever used on a terminal)
    #[arg(long, global = true)]
    pub no_color: bool,
}

/// What to do.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Run a scenario and write its results
    #[command(after_long_help = RUN_EXAMPLES)]
    Run(Run),
    /// Run an experiment: a scenario with values varied over a grid
    #[command(after_long_help = sweep::EXAMPLES)]
    Sweep(sweep::Sweep),
    /// Run several worlds with the same random numbers and say how they differ
    #[command(after_long_help = compare::EXAMPLES)]
    Compare(compare::Compare),
    /// Check a scenario as strictly as `run` does, and show what it comes down to
    #[command(after_long_help = CHECK_EXAMPLES)]
    Check(Check),
    /// Run reference cases whose answers are known from elsewhere, and compare
    #[command(after_long_help = validate::EXAMPLES)]
    Validate(validate::Validate),
    /// Show one logical call as a tree: attempts, waits, queues and the calls below
    #[command(after_long_help = trace::EXAMPLES)]
    Trace(trace::Trace),
    /// Print every random number of a run, or the first that differs from an earlier tape
    #[command(after_long_help = draws::EXAMPLES)]
    Draws(draws::Draws),
    /// Print the JSON Schema of scenario files (or of experiment files)
    Schema {
        /// Which files it describes
        #[arg(default_value = "scenario")]
        of: SchemaOf,
    },
    /// List the models and experiments that come with the program
    List {
        /// How to print them
        #[arg(long, default_value = "text")]
        format: Format,
    },
    /// Print completions for a shell
    #[command(after_long_help = COMPLETIONS_EXAMPLES)]
    Completions {
        /// The shell
        shell: Shell,
    },
}

/// Run a scenario and write its results.
#[derive(Debug, Args)]
pub struct Run {
    /// A scenario (.yaml, .toml, .json), the name of a model that comes with the program, or `-` for standard input
    pub file: PathBuf,
    /// Seed of the first replication; the others count on from it [default: as in the scenario]
    #[arg(long, value_name = "N")]
    pub seed: Option<u64>,
    /// How many times to run it, with consecutive seeds [default: as in the scenario]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub replications: Option<u32>,
    /// Add replications until the 95 % interval of a metric is this tight: `goodput=1%` of its mean, or
    /// `p99(web)=5ms`; metrics as in `expect`; may be given several times
    #[arg(long, value_name = "METRIC=HALF-WIDTH")]
    pub precision: Vec<String>,
    /// No more replications than this for the sake of --precision
    #[arg(long, value_name = "N", default_value_t = precision::REPLICATIONS_MAX,
        value_parser = clap::value_parser!(u32).range(2..), requires = "precision")]
    pub max_replications: u32,
    /// Threads; results do not depend on it [default: one per core]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..))]
    pub jobs: Option<u16>,
    /// Where to write [default: output/NAME]
    #[arg(long, value_name = "DIR")]
    pub out: Option<PathBuf>,
    /// Use another value than the scenario says; may be given several times
    #[arg(long = "set", value_name = "PATH=VALUE")]
    pub overrides: Vec<String>,
    /// Write ledger.csv: every attempt of the first N calls of the first replication
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    pub ledger: Option<u64>,
    /// What to print on standard output
    #[arg(long, default_value = "text")]
    pub format: Format,
    /// Draw no plots
    #[arg(long)]
    pub no_plots: bool,
}

/// Check a scenario.
#[derive(Debug, Args)]
pub struct Check {
    /// A scenario (.yaml, .toml, .json), the name of a model that comes with the program, or `-` for standard input
    pub file: PathBuf,
    /// Use another value than the scenario says; may be given several times
    #[arg(long = "set", value_name = "PATH=VALUE")]
    pub overrides: Vec<String>,
    /// Show the values of policies that nobody set, too
    #[arg(long)]
    pub defaults: bool,
    /// End with exit code 1 if there is any advice
    #[arg(long)]
    pub deny_advice: bool,
    /// Leave out one kind of advice, by its name; may be given several times
    #[arg(long = "allow", value_name = "NAME")]
    pub allowed: Vec<String>,
    /// What to print on standard output
    #[arg(long, default_value = "text")]
    pub format: CheckFormat,
}

/// What `check` prints on standard output.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum CheckFormat {
    /// What the scenario comes down to, and the advice, for people
    Text,
    /// Worst case and advice as JSON
    Json,
}

/// What to print on standard output.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Format {
    /// Tables for people
    Text,
    /// What the JSON file holds
    Json,
    /// What the CSV file holds
    Csv,
}

/// Which files a schema describes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum SchemaOf {
    /// Scenario files
    Scenario,
    /// Experiment files
    Experiment,
}

const RUN_EXAMPLES: &str = "\
Examples:
  retrystorm run metastable
      a model that comes with the program; results go to output/metastable/
  retrystorm run my.yaml --replications 10 --jobs 4
      ten seeds on four threads; the files are the same for any number of threads
  retrystorm run my.yaml --precision goodput=1% --precision 'p99(web)=5ms'
      as many replications as it takes, at least 10, at most 100
  retrystorm run my.yaml --set services.api.concurrency=20 --set policies.sdk.retry.max_attempts=1
      try another value without editing the file
  retrystorm run my.yaml --format json | jq .figures.run.goodput_per_s
      numbers for a script; nothing but the JSON is on standard output";

const CHECK_EXAMPLES: &str = "\
Examples:
  retrystorm check my.yaml
      every problem at once as file:line:col, or what the scenario comes down to, with advice on
      retries, timeouts, queues and limits that do harm; docs/advice.md explains each
  retrystorm check my.yaml --deny-advice --allow no-timeout
      for CI: exit code 1 if there is any advice but that
  retrystorm check my.yaml --set clients.web.arrivals.poisson=2000/s";

const COMPLETIONS_EXAMPLES: &str = "\
Examples:
  retrystorm completions bash > /etc/bash_completion.d/retrystorm
  retrystorm completions zsh > \"${fpath[1]}/_retrystorm\"
  retrystorm completions fish > ~/.config/fish/completions/retrystorm.fish";

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory;

    #[test]
    fn the_command_line_is_well_formed() {
        Cli::command().debug_assert();
    }
}
