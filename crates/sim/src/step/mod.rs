//! Programs: what a service does for a request and what a client does in one iteration.
//!
//! A program is written as a tree of steps and compiled once into flat [`Code`]. Straight-line steps
//! follow each other; `End` ends the block they are in. Each step kind is one file here: how it is
//! written, and what it is compiled to.

mod block;
mod cache;
mod call;
mod choose;
mod coalesce;
mod code;
mod compile;
mod effect;
mod fallback;
mod parallel;
mod repeat;
mod respond;
mod session;
mod slot;
mod work;

pub use code::{Code, Instr, Lookup, Pc};

pub(crate) use block::Block;
pub(crate) use call::Call;
pub(crate) use compile::{Compiled, Compiler};

use crate::scenario::file::law::LawFile;
use crate::scenario::tree::At;
use crate::scenario::written::{Several, choice};

choice! {
    /// One step of a program.
    pub(crate) enum Step {
        /// Needs a worker for a length of time drawn from a law, stretched by `slow` faults.
        work => Work(At<LawFile>),
        /// Waits without working.
        delay => Delay(At<LawFile>),
        /// Calls a service and waits for the answer; if it fails, so does the program.
        call => Call(call::Call),
        /// Does several things side by side and waits for all; each is a step or a list of steps. If one
        /// fails, so does the program.
        parallel => Parallel(Several<Block>),
        /// Does one of several things, drawn by weight.
        choose => Choose(At<Several<choose::Arm>>),
        /// Does the same again and again, one after the other.
        repeat => Repeat(repeat::Repeat),
        /// Looks something up in a cache, and goes for it where it is not there. Only in services.
        cache => Cache(At<cache::CacheFile>),
        /// Holds a connection to one replica of a service, until it breaks or has lasted long enough. Only in clients.
        session => Session(Box<At<session::SessionFile>>),
        /// Answers the caller now; what follows runs without anybody waiting. Only in services.
        respond => Respond(At<respond::Answer>),
        /// Does something to the world that stays done, whatever the caller is told: the name of the effect. Only in
        /// services.
        effect => Effect(At<String>),
    }
}
