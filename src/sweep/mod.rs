//! Experiments on threads: the grid of an experiment is run, journalled and reported on.
//!
//! Every point is run with the same seeds (common random numbers): it meets the same arrivals and the same
//! lengths of work as every other, so that points differ by what is varied alone.

pub mod csv;
pub mod execute;
pub mod folder;
mod grid;
pub mod journal;
pub mod json;
pub mod manifest;
mod map;
pub mod picture;
pub mod plan;
pub mod results;
#[cfg(test)]
mod sample;
mod step;
pub mod terminal;
pub mod wording;
