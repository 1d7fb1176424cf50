//! What holds for every sequence of inputs: short ones all of them, long ones drawn at random.

mod account;
mod circuit;
mod exhaustive;
mod extremes;
mod gate;
mod peers;
mod random;
mod world;
