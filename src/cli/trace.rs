//! What can be typed after `trace`.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

/// Show one logical call as a tree: attempts, waits, queues and the calls below.
#[derive(Debug, Args)]
pub struct Trace {
    /// A scenario (.yaml, .toml, .json), or the name of a model that comes with the program
    pub file: PathBuf,
    /// Which call: its number among those that clients begin, from 1 [default: the one that --pick chooses]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..), conflicts_with = "pick")]
    pub call: Option<u64>,
    /// Which call of the whole run
    #[arg(long, default_value = "most-attempts")]
    pub pick: Pick,
    /// Seed of the run [default: as in the scenario]
    #[arg(long, value_name = "N")]
    pub seed: Option<u64>,
    /// Use another value than the scenario says; may be given several times
    #[arg(long = "set", value_name = "PATH=VALUE")]
    pub overrides: Vec<String>,
    /// How to print it
    #[arg(long, default_value = "text")]
    pub format: TraceFormat,
    /// Write to this file instead of standard output
    #[arg(long, value_name = "FILE")]
    pub out: Option<PathBuf>,
}

/// Which call of a run is shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Pick {
    /// The first of those with the most attempts, all layers together
    MostAttempts,
    /// The one that took longest
    Slowest,
    /// The first that failed
    Failed,
    /// The first that ended well after a retry
    Saved,
}

/// How a trace is printed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum TraceFormat {
    /// An indented timeline for people
    Text,
    /// OTLP JSON, as OpenTelemetry collectors and Jaeger read it
    Otlp,
    /// Chrome trace events, as ui.perfetto.dev and chrome://tracing read them
    Perfetto,
}

pub(super) const EXAMPLES: &str = "\
Examples:
  retrystorm trace three-layers
      the call with the most attempts, layer by layer
  retrystorm trace my.yaml --call 1200
      the 1200th call that any client began
  retrystorm trace my.yaml --pick saved
      the first call that a retry saved
  retrystorm trace my.yaml --pick slowest --format perfetto --out slow.json
      to look at in ui.perfetto.dev
  retrystorm trace my.yaml --format otlp --out trace.json
      for an OpenTelemetry collector; times count from 1970-01-01, which is when simulated time begins";
