//! `fallback` of a call: what there is when it fails.

use seawall::{FailureKind, FailureSet, Span, Time};

use super::call::Call;
use super::{Compiler, Instr};
use crate::scenario::context::Context;
use crate::scenario::fallbacks::{Instead, Item, Rule};
use crate::scenario::model::Caller;
use crate::scenario::tree::At;
use crate::scenario::written::{Kinds, Whole, choice, record, words};

record! {
    /// What there is when a call fails: one key that says what, and when.
    pub(crate) struct FallbackFile {
        /// The failures it stands in for; others are passed on. Default: all that mean that the service cannot be
        /// reached or cannot answer now. A call that was refused for want of a permit never has a fallback.
        on: Option<Kinds>,
        /// How many calls of one process to this service may be under way at once, fallback included; one more is
        /// rejected, whatever the fallback would have. Default: any number.
        permits: Option<Whole<1>>,
        ..kind: FallbackKindFile,
    }
}

choice! {
    /// What there is when a call fails.
    pub(crate) enum FallbackKindFile {
        /// Without another answer: the part is left out, a general answer is given, or the program fails.
        instead => Instead(Word),
        /// The last good answer, unless it is too old.
        snapshot => Snapshot(SnapshotFile),
        /// Another call, such as one past a cache to the origin; its policy limits it.
        direct => Direct(Box<Call>),
        /// Another call, which asks what has become of a write whose answer nobody has: if it was done, the program goes on,
        /// else it fails. Not asked where no attempt was made.
        look_up => LookUp(Box<Call>),
    }
}

/// A fallback without another answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Word {
    Omit,
    Generic,
    Reject,
}

words! {
    /// A fallback without another answer.
    Word, "FallbackWord" {
        "omit" => Word::Omit, "The program goes on without that part.";
        "generic" => Word::Generic, "The program goes on with an answer that is the same for everybody.";
        "reject" => Word::Reject, "The program fails at once.";
    }
}

record! {
    /// The last good answer. A bare length of time is its greatest age.
    pub(crate) struct SnapshotFile [max_age] {
        /// The oldest that may be served; exactly this old is still served.
        max_age: Span,
        /// What is asked for: each process keeps one snapshot of each item.
        item: String = "any",
        /// When the one that is there at the start was taken, counted from the start of the run; later than the moment
        /// it is looked at, it is of a clock that runs ahead, and is not served. Default: there is none.
        at: Option<At<Span>>,
    }
}

/// The failures that mean that a service cannot be reached or cannot answer now.
const UNAVAILABLE: FailureSet = FailureSet::of(&[
    FailureKind::Dns,
    FailureKind::ConnectRefused,
    FailureKind::ConnectTimeout,
    FailureKind::Reset,
    FailureKind::Timeout,
    FailureKind::Unavailable,
    FailureKind::Overloaded,
    FailureKind::BadGateway,
    FailureKind::DeadlineExceeded,
]);

impl FallbackFile {
    /// The call at `site` of `edge` has been laid out; this comes after it. `optional`: the program goes on when both fail.
    pub(super) fn compile(
        &self,
        (site, edge): (u32, u32),
        optional: bool,
        caller: Caller,
        compiler: &mut Compiler,
        context: &mut Context<'_>,
    ) {
        let all = compiler.fallbacks();
        let known = all.edges.iter().position(|known| *known == edge);
        let subject = known.unwrap_or_else(|| {
            all.edges.push(edge);
            all.edges.len() - 1
        }) as u32;
        let rule = |instead| Rule {
            instead,
            on: self.on.map_or(UNAVAILABLE, |kinds| kinds.0),
            permits: self.permits.map(|permits| permits.0),
            subject,
        };
        let instead = match &self.kind {
            FallbackKindFile::Instead(Word::Omit) => Instead::Omit,
            FallbackKindFile::Instead(Word::Generic) => Instead::Generic,
            FallbackKindFile::Instead(Word::Reject) => Instead::Reject,
            FallbackKindFile::Snapshot(snapshot) => Instead::Snapshot {
                item: snapshot.item(caller, compiler, context),
                max_age: snapshot.max_age,
            },
            FallbackKindFile::Direct(_) => Instead::Direct,
            FallbackKindFile::LookUp(_) => Instead::LookUp,
        };
        compiler.rule(site, rule(instead));
        let (call, of) = match &self.kind {
            FallbackKindFile::Direct(call) => (call, Instead::OfDirect),
            FallbackKindFile::LookUp(call) => (call, Instead::OfLookUp),
            FallbackKindFile::Instead(_) | FallbackKindFile::Snapshot(_) => return,
        };
        if let Some(own) = &call.fallback {
            context.report(own.at, "fallback: a fallback has none of its own");
        }
        if let Some(shared) = &call.coalesce {
            let message = "coalesce: a call that stands in for another one is shared with nobody";
            context.report(shared.position, message);
        }
        // The program goes on behind it, unless the call before has failed.
        let jump = compiler.here().0 as usize;
        compiler.push(Instr::Otherwise(compiler.here()));
        if let Some((site, _)) = call.lay_out(optional || call.optional, caller, compiler, context)
        {
            compiler.rule(site, rule(of));
        }
        let behind = compiler.here();
        compiler.code().instrs[jump] = Instr::Otherwise(behind);
    }
}

impl SnapshotFile {
    fn item(&self, caller: Caller, compiler: &mut Compiler, context: &mut Context<'_>) -> u32 {
        let at = self.at.as_ref().map(|at| Time::ZERO.after(at.value));
        let items = &mut compiler.fallbacks().items;
        let known = items
            .iter()
            .position(|item| item.caller == caller && item.name == self.item);
        let Some(index) = known else {
            items.push(Item {
                caller,
                name: self.item.clone(),
                at,
            });
            return items.len() as u32 - 1;
        };
        let known = &mut items[index];
        if let (Some(before), Some(now)) = (known.at, &self.at)
            && before != Time::ZERO.after(now.value)
        {
            let message = format!(
                "at: `{}` has another time elsewhere in this caller",
                self.item
            );
            context.report(now.at, message);
        }
        known.at = known.at.or(at);
        index as u32
    }
}
