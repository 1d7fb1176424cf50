//! The loop between tower and the engine, on tokio's paused clock: nothing here takes real time.
// Tests play the callers, and those have tasks and threads.
#![allow(clippy::disallowed_methods)]

mod cancel;
mod dependency;
mod hedge;
mod http;
mod life;
mod line;
mod observe;
