//! `work` and `delay`: time passes, with or without a worker.

use super::{Compiler, Instr};
use crate::scenario::context::Context;
use crate::scenario::file::law::LawFile;
use crate::scenario::model::Caller;
use crate::scenario::tree::At;

pub(super) fn work(
    law: &At<LawFile>,
    caller: Caller,
    compiler: &mut Compiler,
    context: &mut Context<'_>,
) {
    if let Caller::Client(_) = caller {
        context.report(law.at, "work: a client has no workers; write `delay`");
    }
    let law = context.within("work", |context| compiler.law(&law.value, context));
    compiler.push(Instr::Work(law));
}

pub(super) fn delay(law: &At<LawFile>, compiler: &mut Compiler, context: &mut Context<'_>) {
    let law = context.within("delay", |context| compiler.law(&law.value, context));
    compiler.push(Instr::Delay(law));
}
