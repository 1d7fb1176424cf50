//! What kind of story a run was: did the world stay well, come back, or stay down?
//!
//! The rule looks at **goodput**: calls of the clients answered well and in time. It compares it with what
//! was to be **expected** in the same time: the goodput before the trigger (the *baseline*) or, if that is
//! less, the share of the load offered that was answered well before the trigger. A client that loops offers
//! less when it is kept waiting, so for it only the baseline counts. Without a time before the trigger all of
//! the load offered was to be answered well.
//!
//! * The **trigger** lasts from the begin of the first fault to the end of the last (`run.trigger` if the
//!   scenario says so itself). A kill switch is a remedy, not a trigger; so are a change of policy and a throttle, unless
//!   nothing else happens.
//! * Windows after the warm-up are looked at in **blocks**: so many windows, beginning at each window in
//!   turn, that chance alone does not take 5 % off a block. With a share `p` of calls answered well before
//!   the trigger, 100 + 6400 (1 − p) calls make 5 % four standard deviations of a binomial count; where a
//!   client loops, 6400 calls, as for a Poisson count. And calls in flight when a block begins or ends belong
//!   to it by half: with `L` of them before the trigger, the change from one edge to the other has a standard
//!   deviation of √(2 L), and 80 √(2 L) calls make 5 % four of those. A block is never more than a quarter of
//!   the run.
//! * A block is **bad** if its goodput is below 95 % of what was to be expected in it.
//!
//! Then the run was
//!
//! * **healthy** if no block from the begin of the trigger on is bad; without a trigger, or without a block that begins
//!   with it or later, if 95 % of all calls were answered well;
//! * **recovered** after *x* if there are bad blocks, but none that begins later than *x* after the end of
//!   the trigger (0 s if all were over with it). The good time at the end is longer than any earlier one after the trigger
//!   that did not last: a world that swings has not recovered because the run ends on a high. But where clients come in
//!   waves, blocks are bad between them for ever, and what counts is the mean: if the goodput of the last third of the time after the
//!   trigger, or of more than that, is 95 % of what was to be expected, the world has recovered, after its longest bad time;
//! * **metastable** if it is neither though the trigger has been over for two blocks, and for ten windows or more;
//! * **degraded** otherwise: bad while a trigger lasts that never ends, too little time after it to tell, or
//!   not well to begin with (below 95 % of the load offered before the trigger, or without one).
//!
//! A run that was cut short, by a limit or by hand, is at best degraded: nobody knows what would have come.

mod series;
mod trigger;

use std::fmt;

use seawall::Span;

use crate::metrics::{Ended, Outcome};
use crate::scenario::model::Scenario;
use series::Series;
pub use trigger::Trigger;

/// What kind of story a run was.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// Nothing to be seen of a disturbance.
    Healthy,
    /// Not well, and neither of the two below.
    Degraded,
    /// Disturbed, and well again by itself.
    Recovered {
        /// From the end of the trigger until it was well for good.
        after: Span,
    },
    /// The trigger is gone and the world is still down.
    Metastable,
}

impl Verdict {
    /// The words used in promises and reports, by [`Verdict::index`].
    pub const NAMES: [&'static str; 4] = ["healthy", "degraded", "recovered", "metastable"];

    /// Position of `recovered` in [`Verdict::NAMES`].
    pub const RECOVERED: usize = 2;
    /// Positions in [`Verdict::NAMES`] from the best verdict to the worst.
    pub const FROM_BEST: [usize; 4] = [0, Verdict::RECOVERED, 1, 3];

    /// How bad the verdict at a position in [`Verdict::NAMES`] is: 0 is best.
    #[must_use]
    pub fn badness(index: usize) -> usize {
        let place = Verdict::FROM_BEST.iter().position(|&known| known == index);
        place.unwrap_or(Verdict::FROM_BEST.len())
    }

    /// Position in [`Verdict::NAMES`].
    #[must_use]
    pub const fn index(self) -> usize {
        match self {
            Verdict::Healthy => 0,
            Verdict::Degraded => 1,
            Verdict::Recovered { .. } => Verdict::RECOVERED,
            Verdict::Metastable => 3,
        }
    }

    /// The word used in promises and reports.
    #[must_use]
    pub const fn name(self) -> &'static str {
        Verdict::NAMES[self.index()]
    }

    /// How long it took from the end of the trigger until all was well for good; `None`: it never was.
    #[must_use]
    pub const fn recovery(self) -> Option<Span> {
        match self {
            Verdict::Healthy => Some(Span::ZERO),
            Verdict::Recovered { after } => Some(after),
            Verdict::Degraded | Verdict::Metastable => None,
        }
    }
}

impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Verdict::Recovered { after } => write!(f, "recovered after {after}"),
            other => f.write_str(other.name()),
        }
    }
}

/// A verdict and what it rests on.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Judgement {
    /// The verdict.
    pub verdict: Verdict,
    /// When the world was disturbed, if it was.
    pub trigger: Option<Trigger>,
    /// Goodput before the trigger, calls per second; `None`: there was no such time.
    pub baseline: Option<f64>,
    /// Windows in a block.
    pub block: usize,
    /// The run ended too early after the trigger to tell whether the world stays down.
    pub too_short: bool,
}

/// Judges a run.
#[must_use]
pub fn judge(scenario: &Scenario, outcome: &Outcome) -> Judgement {
    let trigger = Trigger::of(scenario);
    let series = Series::of(scenario, outcome, trigger);
    let cut_short = outcome.ended != Ended::Completed;
    let verdict = match series.verdict(trigger) {
        Verdict::Healthy | Verdict::Recovered { .. } if cut_short => Verdict::Degraded,
        verdict => verdict,
    };
    Judgement {
        verdict,
        trigger,
        baseline: series.baseline,
        block: series.block,
        too_short: !cut_short
            && verdict == Verdict::Degraded
            && series.well_before
            && trigger
                .and_then(|t| t.end)
                .is_some_and(|end| series.after(end) < series.lasting()),
    }
}
