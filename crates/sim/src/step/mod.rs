//! Programs: what a service does for a request and what a client does in one iteration.
//!
//! A program is written as a tree of steps and compiled once into flat [`Code`]. Straight-line steps
//! follow each other; `End` ends the block they are in. Each step kind is one file here.

mod code;

pub use code::{Code, Instr, Pc};
