//! Scenarios: what was written, and what it means.

pub(crate) mod behaviour;
pub mod cache;
mod circle;
pub mod coalesce;
pub(crate) mod context;
pub mod credential;
pub mod effects;
pub mod fallbacks;
pub(crate) mod fault;
pub(crate) mod file;
pub(crate) mod gate;
mod keys;
pub(crate) mod lifecycle;
mod load;
pub mod model;
pub(crate) mod names;
mod overrides;
pub mod passage;
mod places;
mod policy;
pub(crate) mod problem;
pub(crate) mod run;
mod topology;
pub(crate) mod tree;
pub(crate) mod waiting;
pub(crate) mod written;

pub(crate) use load::drop_unread;
pub use load::{Source, VERSION, load, schema, settings, to_json};
pub use model::Scenario;
pub use overrides::{Override, Place};
pub use places::{Location, Places};
pub use policy::settings::{Origin, Setting, Settings};
pub use problem::{Problem, Problems};
pub use topology::Topology;
pub use tree::Format;
pub use written::nearest;
