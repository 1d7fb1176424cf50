//! The program from outside: one binary, so that it links once.

mod advice;
mod certainty;
mod circles;
mod cli;
mod compare;
mod determinism;
mod docs;
mod errors;
mod gallery;
mod incidents;
mod input;
mod labs;
mod pages;
mod program;
mod requirements;
mod scenario_page;
mod swarm;
mod sweep;
mod theory;
mod tidy;
mod trace;
