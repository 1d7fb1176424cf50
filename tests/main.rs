//! The program from outside: one binary, so that it links once.

mod advice;
mod bytes;
mod certainty;
mod cli;
mod compare;
mod docs;
mod gallery;
mod incidents;
mod program;
mod sweep;
mod theory;
mod tidy;
