//! Measuring: what is counted, and in which window.

mod answer;
mod cache;
mod coalesce;
mod counted;
mod counts;
mod credential;
mod effect;
mod ended;
mod ledger;
mod level;
mod log;
mod messages;
mod meter;
mod outcome;
mod passage;
mod recorder;
mod session;
mod tally;
mod traffic;
mod window;

pub use answer::{AnswerCount, Source};
pub use cache::CacheCount;
pub use coalesce::CoalesceCount;
pub use counts::Counts;
pub use credential::CredentialCount;
pub use effect::{EffectCount, KeyCount};
pub use ended::Ended;
pub use ledger::{By, Entry, Known, Mark, Next, Response};
pub(crate) use level::Level;
pub use log::{
    AttemptLink, CallLink, CallRecord, Exchange, JobEnd, JobRecord, LegRecord, Log, Said,
};
pub use messages::MessageCount;
pub(crate) use meter::{EdgeMeter, ServiceMeter};
pub use outcome::{EdgeLatency, Outcome};
pub use passage::{LEGS, Leg, PassageCount, PoolCount};
pub(crate) use recorder::{Recorder, WindowState};
pub use session::SessionCount;
pub use traffic::{ClientCount, ERRORS, EdgeCount, KINDS, PHASES, STOPS, ServiceCount};
pub use window::{EdgeGauge, ServiceGauge, Window, WindowLatency};
