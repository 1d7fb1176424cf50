//! `repeat`: the same block again and again.

use super::slot::Slot;
use super::{Block, Compiler, Instr, Pc};
use crate::scenario::written::{Whole, record};

record! {
    /// The same again and again.
    pub(crate) struct Repeat {
        /// How often in all.
        times: Whole<1>,
        /// What is done: a step or a list of steps.
        r#do: Block,
    }
}

impl Repeat {
    pub(super) fn compile(&self, compiler: &mut Compiler) {
        let Pc(at) = compiler.here();
        compiler.push(Instr::Repeat {
            times: self.times.0,
            body: Pc::default(),
        });
        compiler.later(&self.r#do.0, Slot::Body(at as usize), Instr::End);
    }
}
