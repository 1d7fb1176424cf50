//! `parallel`: several blocks side by side.

use super::compile::Slot;
use super::{Block, Compiler, Instr, Pc};
use crate::scenario::context::Context;
use crate::scenario::tree::At;

pub(super) fn compile(
    branches: &At<Vec<Block>>,
    compiler: &mut Compiler,
    context: &mut Context<'_>,
) {
    if branches.value.is_empty() {
        context.report(branches.at, "parallel: at least one branch is needed");
    }
    let first = compiler.code().branches.len();
    let count = branches.value.len();
    compiler.push(Instr::Parallel {
        first: first as u32,
        count: count as u32,
    });
    for (i, branch) in branches.value.iter().enumerate() {
        compiler.code().branches.push(Pc::default());
        compiler.later(&branch.0, Slot::Branch(first + i), Instr::End);
    }
}
