//! The program: command line, replications on threads, files, tables and plots.

pub mod advice;
pub mod bug;
pub mod cli;
pub mod clock;
pub mod command;
pub mod compare;
pub mod error;
pub mod figure;
pub mod input;
pub mod interrupt;
pub mod number;
pub mod plot;
pub mod precision;
pub mod progress;
pub mod replicate;
pub mod report;
#[cfg(test)]
mod sample;
pub mod shipped;
pub mod stats;
pub mod story;
pub mod sweep;
pub mod trace;
pub mod validate;
pub mod warmup;
pub mod wording;
