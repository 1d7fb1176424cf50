//! How a call ends that does not end well.

use std::error::Error as StdError;
use std::fmt;

use seawall::CallError;

/// Any error of an inner service.
pub type BoxError = Box<dyn StdError + Send + Sync>;

/// Why a call has no response.
#[derive(Debug)]
pub enum Error {
    /// The last attempt failed with this error of the inner service.
    Attempt {
        /// The error itself.
        error: BoxError,
        /// Why no further attempt was made. `None` if the protocol takes this error for a usable answer, or if it came
        /// from `poll_ready`, before there was a call.
        call: Option<CallError>,
    },
    /// There is no result to hand on: the call was refused, its attempt timed out, or it was given up while it waited.
    Stopped(CallError),
}

impl Error {
    /// What the policy says about it, if it does: kind, attempts made, reason.
    #[must_use]
    pub fn call(&self) -> Option<&CallError> {
        match self {
            Error::Attempt { call, .. } => call.as_ref(),
            Error::Stopped(call) => Some(call),
        }
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Error::Attempt { error, call: None } => error.fmt(f),
            // The inner error is the source; who prints the chain prints it.
            Error::Attempt {
                call: Some(call), ..
            }
            | Error::Stopped(call) => call.fmt(f),
        }
    }
}

impl StdError for Error {
    fn source(&self) -> Option<&(dyn StdError + 'static)> {
        match self {
            // Shown already, hence its source follows.
            Error::Attempt { error, call: None } => error.source(),
            Error::Attempt { error, .. } => Some(error.as_ref()),
            Error::Stopped(_) => None,
        }
    }
}
