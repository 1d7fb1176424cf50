//! `choose`: one of several blocks, drawn by weight.

use super::compile::Slot;
use super::{Block, Compiler, Instr, Pc};
use crate::scenario::context::Context;
use crate::scenario::tree::At;
use crate::scenario::written::{Weight, record};

record! {
    /// One of several things to do.
    pub(crate) struct Arm {
        /// How often it is this one.
        weight: Weight,
        /// What is done: a step or a list of steps.
        r#do: Block,
    }
}

pub(super) fn compile(arms: &At<Vec<Arm>>, compiler: &mut Compiler, context: &mut Context<'_>) {
    if arms.value.is_empty() {
        context.report(arms.at, "choose: at least one of several is needed");
    }
    let first = compiler.code().arms.len();
    let count = arms.value.len();
    compiler.push(Instr::Choose {
        first: first as u32,
        count: count as u32,
    });
    let back = Instr::Jump(compiler.here());
    let weights: Vec<Weight> = arms.value.iter().map(|arm| arm.weight).collect();
    let mut cumulative = 0.0;
    for (i, (arm, part)) in arms
        .value
        .iter()
        .zip(Weight::parts(&weights, arms.at, context))
        .enumerate()
    {
        cumulative += part;
        // Rounding must not leave a draw without an arm.
        let bound = if i + 1 == count { 1.0 } else { cumulative };
        compiler.code().arms.push((bound, Pc::default()));
        compiler.later(&arm.r#do.0, Slot::Arm(first + i), back);
    }
}
