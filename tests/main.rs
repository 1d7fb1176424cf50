//! The program from outside: one binary, so that it links once.

mod bytes;
mod cli;
mod docs;
mod gallery;
mod program;
mod theory;
mod tidy;
