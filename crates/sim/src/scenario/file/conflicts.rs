//! Optimistic transactions, as written.

use super::failure::FailureFile;
use super::service::ServiceFile;
use crate::scenario::conflicts::Conflicts;
use crate::scenario::context::Context;
use crate::scenario::tree::At;
use crate::scenario::written::{Share, record};

record! {
    /// Optimistic transactions: a job that ends well while n have a worker, on all replicas, fails with probability
    /// 1 - (1 - share)^(n - 1) instead. What it has done by then stays done. A bare number is `share`.
    pub(crate) struct ConflictsFile [share] {
        /// How often two that are at work at once conflict, above 0.
        share: At<Share>,
        /// What the callers of those get that fail.
        fail: FailureFile = "conflict",
    }
}

impl ServiceFile {
    pub(super) fn conflicts(&self, context: &mut Context<'_>) -> Option<Conflicts> {
        let file = self.conflicts.as_ref()?;
        let share = file.share.value.0;
        context.within("conflicts", |context| {
            if share <= 0.0 {
                context.report(file.share.at, "share: must be above 0");
            }
            if self.concurrency.0 == Some(1) && self.replicas.0 == 1 && self.scaling.is_none() {
                let message = "one worker has nobody to conflict with; give it more `concurrency`";
                context.report(file.share.at, message);
            }
        });
        Some(Conflicts {
            share,
            failure: file.fail.mean(),
        })
    }
}
