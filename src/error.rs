//! What can go wrong, and with which exit code the program then ends.

use std::fmt;
use std::io::{self, Write as _};
use std::path::PathBuf;

use sim::scenario::Problems;

/// Exit codes; documented in `docs/output.md`.
pub mod exit {
    /// Everything was done, and every promise of the scenario was kept.
    pub const OK: u8 = 0;
    /// A promise in `expect` was broken, `check --deny-advice` had advice to give, or `draws --against` found a
    /// difference.
    pub const BROKEN: u8 = 1;
    /// The command line, a scenario or an experiment is wrong.
    pub const BAD_INPUT: u8 = 2;
    /// A file could not be read or written.
    pub const IO: u8 = 3;
    /// A limit of the scenario ended a run before its time.
    pub const LIMIT: u8 = 4;
    /// Results are less sure than was asked for.
    pub const UNSURE: u8 = 5;
    /// A bug in retrystorm: the code of every Rust program that panics.
    pub const BUG: u8 = 101;
    /// Ctrl-C: 128 + SIGINT, as shells count.
    pub const INTERRUPTED: u8 = 130;

    /// All of them, with their meaning.
    pub const ALL: [(u8, &str); 8] = [
        (OK, "Done, and every promise of the scenario was kept."),
        (
            BROKEN,
            "A promise in `expect` was broken; all results were written. Or there was advice that `check --deny-advice` does not accept, or a draw that differs from those on the tape of `draws --against`.",
        ),
        (
            BAD_INPUT,
            "The command line, a scenario or an experiment is wrong. Nothing was written.",
        ),
        (IO, "A file could not be read or written."),
        (
            LIMIT,
            "A limit in `run.limits` ended a run before its time. What was computed until then was written and is marked; promises do not count.",
        ),
        (
            UNSURE,
            "Results are less sure than was asked for: a `--precision` was not reached, or `run.warmup: auto` found no end of the start-up. All results were written.",
        ),
        (
            BUG,
            "A bug in retrystorm; the message gives the command that makes it happen again.",
        ),
        (
            INTERRUPTED,
            "Ctrl-C or SIGTERM. What was finished was written and is marked as incomplete.",
        ),
    ];
}

/// Says something on standard error. Where nobody can be told, the exit code still says what happened.
pub fn tell(words: fmt::Arguments<'_>) {
    let _ = writeln!(io::stderr(), "{words}");
}

/// Why a command could not do what it was asked to.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// A scenario or experiment is wrong; every problem with its place.
    #[error("{0}")]
    Scenario(Problems),
    /// What was asked for makes no sense; the mend is in the message.
    #[error("{0}")]
    Usage(String),
    /// A file could not be read or written.
    #[error("cannot {doing} {}: {source}", path.display())]
    Io {
        /// A verb: `read`, `write`, `create`.
        doing: &'static str,
        /// What it was done to.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// Ctrl-C before there was any result.
    #[error("interrupted before the first run ended; there are no results")]
    Interrupted,
}

impl Error {
    /// An [`Error::Io`].
    pub fn io(doing: &'static str, path: impl Into<PathBuf>) -> impl FnOnce(io::Error) -> Error {
        let path = path.into();
        move |source| Error::Io {
            doing,
            path,
            source,
        }
    }

    /// The exit code for it.
    #[must_use]
    pub const fn code(&self) -> u8 {
        match self {
            Error::Scenario(_) | Error::Usage(_) => exit::BAD_INPUT,
            Error::Io { .. } => exit::IO,
            Error::Interrupted => exit::INTERRUPTED,
        }
    }
}
