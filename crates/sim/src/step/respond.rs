//! `respond`: answers the caller before the program is over.

use seawall::Reply;

use super::{Compiler, Instr};
use crate::scenario::context::Context;
use crate::scenario::file::failure::FailureFile;
use crate::scenario::model::Caller;
use crate::scenario::tree::At;
use crate::scenario::written::choice;

choice! {
    /// An answer.
    pub(crate) enum Answer {
        /// A usable answer.
        ok => Ok,
        /// No usable answer, but this.
        fail => Fail(FailureFile),
    }
}

pub(super) fn compile(
    answer: &At<Answer>,
    caller: Caller,
    compiler: &mut Compiler,
    context: &mut Context<'_>,
) {
    if let Caller::Client(_) = caller {
        context.report(answer.at, "respond: a client has nobody to answer");
    }
    let reply = match &answer.value {
        Answer::Ok => Reply::Ok,
        Answer::Fail(failure) => Reply::Failed(failure.mean()),
    };
    compiler.code().replies.push(reply);
    let index = compiler.code().replies.len() as u32 - 1;
    compiler.push(Instr::Respond(index));
}
