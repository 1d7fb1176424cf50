//! `choose`: one of several blocks, drawn by weight.

use super::slot::Slot;
use super::{Block, Compiler, Instr, Pc};
use crate::scenario::context::Context;
use crate::scenario::tree::At;
use crate::scenario::written::{Several, Weight, record};

record! {
    /// One of several things to do.
    pub(crate) struct Arm {
        /// How often it is this one.
        weight: Weight,
        /// What is done: a step or a list of steps.
        r#do: Block,
    }
}

pub(super) fn compile(arms: &At<Several<Arm>>, compiler: &mut Compiler, context: &mut Context<'_>) {
    let at = arms.at;
    let arms = &arms.value.0;
    let first = compiler.code().arms.len();
    let count = arms.len();
    compiler.push(Instr::Choose {
        first: first as u32,
        count: count as u32,
    });
    let back = Instr::Jump(compiler.here());
    let weights: Vec<Weight> = arms.iter().map(|arm| arm.weight).collect();
    let parts = Weight::parts(&weights, at, context);
    let mut cumulative = 0.0;
    for (i, (arm, part)) in arms.iter().zip(parts).enumerate() {
        cumulative += part;
        // Rounding must not leave a draw without an arm.
        let bound = if i + 1 == count { 1.0 } else { cumulative };
        compiler.code().arms.push((bound, Pc::default()));
        compiler.later(&arm.r#do.0, Slot::Arm(first + i), back);
    }
}
