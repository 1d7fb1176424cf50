//! One logical call for people and for tracing tools.
//!
//! [`find`] runs the scenario as far as it must; [`span`] turns the call into a tree of named spans, from which
//! [`terminal`], [`otlp`] and [`perfetto`] are written. A span holds names, numbers and times: there is nothing secret to leave out.

pub mod find;
pub mod otlp;
pub mod perfetto;
pub mod span;
pub mod terminal;
