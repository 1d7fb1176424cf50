//! `coalesce`: identical calls under way at once share one.

use super::{Call, Compiler};
use crate::scenario::context::Context;
use crate::scenario::model::Caller;
use crate::scenario::tree::At;
use crate::scenario::written::{Factor, Whole, record};

/// Keys of one step that there is room for.
const KEYS_MAX: u32 = 1_000_000;

record! {
    /// Calls of one process that ask for the same thing share one call while it is under way. A bare number is how many
    /// things there are.
    pub(crate) struct CoalesceFile [keys] {
        /// How many different things are asked for.
        keys: At<Whole<1>>,
        /// How unevenly: the n-th is asked for in proportion to 1 / n^skew. 0: all alike.
        skew: Factor = 0,
    }
}

impl Call {
    /// Takes note that the calls of `site` may share.
    pub(super) fn coalesce(
        &self,
        site: u32,
        caller: Caller,
        compiler: &mut Compiler,
        context: &mut Context<'_>,
    ) {
        let Some(file) = &self.coalesce else {
            return;
        };
        let at = file.position;
        let problem = if matches!(caller, Caller::Client(_)) {
            Some("only calls of services can share one; a client's are counted one by one")
        } else if self.key.is_some() {
            Some("calls with a `key` are not the same")
        } else if self.fallback.is_some() {
            Some("goes with no `fallback`; put that on the calls to this service")
        } else {
            None
        };
        if let Some(problem) = problem {
            context.report(at, format!("coalesce: {problem}"));
            return;
        }
        let keys = file.keys.value.0;
        if keys > KEYS_MAX {
            let message = format!("coalesce.keys: must be at most {KEYS_MAX}, got {keys}");
            context.report(file.keys.at, message);
            return;
        }
        compiler.coalescing().add(site, keys, file.skew.0);
    }
}
