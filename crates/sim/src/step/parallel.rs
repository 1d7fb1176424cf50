//! `parallel`: several blocks side by side.

use super::slot::Slot;
use super::{Block, Compiler, Instr, Pc};

pub(super) fn compile(branches: &[Block], compiler: &mut Compiler) {
    let first = compiler.code().branches.len();
    let count = branches.len();
    compiler.push(Instr::Parallel {
        first: first as u32,
        count: count as u32,
    });
    for (i, branch) in branches.iter().enumerate() {
        compiler.code().branches.push(Pc::default());
        compiler.later(&branch.0, Slot::Branch(first + i), Instr::End);
    }
}
