//! `retrystorm validate`: reference cases whose answers are known from elsewhere, run and compared.
//!
//! A [`case::Case`] says what is known. Its family turns it into a [`plan::Plan`]: scenarios as a user
//! would write them, and what to read off their runs. [`run`] runs them and [`tolerance`] judges.

pub mod case;
mod family;
pub mod measure;
pub mod plan;
pub mod quick;
pub mod report;
pub mod run;
mod text;
pub mod tolerance;

pub use family::plan;
