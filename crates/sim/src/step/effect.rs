//! `effect`: something is done to the world that stays done, whatever the caller is told.

use super::{Compiler, Instr};
use crate::scenario::context::Context;
use crate::scenario::model::Caller;
use crate::scenario::tree::At;
use crate::scenario::written::check_name;

pub(super) fn compile(
    name: &At<String>,
    caller: Caller,
    compiler: &mut Compiler,
    context: &mut Context<'_>,
) {
    check_name(name, &mut context.problems);
    match caller {
        Caller::Client(_) => {
            let message = "effect: only what a service does is counted; write it in the service";
            context.report(name.at, message);
        }
        Caller::Service(service) => {
            let effect = compiler.effect(service, &name.value);
            compiler.push(Instr::Effect(effect));
        }
    }
}
