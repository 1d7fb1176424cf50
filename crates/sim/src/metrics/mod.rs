//! Measuring: what is counted, and in which window.

mod log;
mod outcome;
mod recorder;

pub use log::{CallRecord, JobEnd, JobRecord, Log};
pub use outcome::{
    ClientCount, Counts, EdgeCount, EdgeGauge, EdgeLatency, Ended, KINDS, Outcome, STOPS,
    ServiceCount, ServiceGauge, Window, WindowLatency,
};
pub(crate) use recorder::Recorder;
