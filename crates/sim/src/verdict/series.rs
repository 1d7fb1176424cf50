//! Goodput against what was to be expected, block by block, and what that says.

use seawall::Time;

use super::{Trigger, Verdict};
use crate::metrics::{Ended, Outcome, Window};
use crate::scenario::model::{Caller, Client, Scenario};

/// Below this share of what was to be expected, goodput is bad.
const ENOUGH: f64 = 0.95;
/// So many windows after the trigger make a state last, and so many blocks.
const LASTING: usize = 10;
const LASTING_BLOCKS: usize = 2;
/// Waves are looked at over this part of the time after the trigger, at least.
const LASTING_PART: usize = 3;
/// So many standard deviations are not chance.
const DEVIATIONS: f64 = 4.0;

/// Goodput and what was to be expected, window by window after the warm-up.
pub(super) struct Series {
    points: Vec<Point>,
    /// Goodput before the trigger, per second.
    pub(super) baseline: Option<f64>,
    /// Whether the world was well before the trigger.
    pub(super) well_before: bool,
    /// Windows in a block.
    pub(super) block: usize,
}

struct Point {
    start: Time,
    good: f64,
    expected: f64,
    offered: f64,
}

/// Calls of one client: begun, answered well, ended.
#[derive(Clone, Copy, Debug, Default)]
struct Calls {
    begun: f64,
    good: f64,
    ended: f64,
}

impl Calls {
    fn of(scenario: &Scenario, window: &Window, client: usize) -> Calls {
        let mut calls = Calls::default();
        for (index, count) in window.counts.edges.iter().enumerate() {
            let own = scenario.edges[index].caller == Caller::Client(client as u32);
            if own && scenario.is_top(index) {
                calls.begun += count.calls as f64;
                calls.good += count.ok as f64;
                calls.ended += (count.ok + count.failed_calls()) as f64;
            }
        }
        calls
    }
}

/// Calls of the clients in flight, on average over the ends of windows.
fn in_flight<'a>(scenario: &Scenario, windows: impl Iterator<Item = &'a &'a Window>) -> f64 {
    let mut seen = 0.0;
    let mut calls = 0.0;
    for window in windows {
        seen += 1.0;
        let gauges = window.edges.iter().enumerate();
        let top = gauges.filter(|&(edge, _)| scenario.is_top(edge));
        calls += top.map(|(_, gauge)| gauge.in_flight as f64).sum::<f64>();
    }
    if seen > 0.0 { calls / seen } else { 0.0 }
}

impl Series {
    pub(super) fn of(scenario: &Scenario, outcome: &Outcome, trigger: Option<Trigger>) -> Series {
        let warm = Time::ZERO.after(scenario.run.warmup);
        // A run that was cut short ends with a window that is no whole one: hardly anything is in it.
        let whole = |w: &Window| {
            outcome.ended == Ended::Completed || w.end.since(w.start) >= scenario.run.window
        };
        let windows = outcome.windows.iter();
        let windows: Vec<&Window> = windows.filter(|&w| w.start >= warm && whole(w)).collect();
        let before: Vec<&&Window> = windows
            .iter()
            .filter(|w| trigger.is_some_and(|t| w.end <= t.begin))
            .collect();
        let seconds: f64 = before
            .iter()
            .map(|w| w.end.since(w.start).as_secs_f64())
            .sum();

        let mut points: Vec<Point> = windows
            .iter()
            .map(|w| Point {
                start: w.start,
                good: 0.0,
                expected: 0.0,
                offered: 0.0,
            })
            .collect();
        let mut whole_before = Calls::default();
        for (index, client) in scenario.clients.iter().enumerate() {
            let mut usual = Calls::default();
            for window in &before {
                let calls = Calls::of(scenario, window, index);
                usual.begun += calls.begun;
                usual.good += calls.good;
                usual.ended += calls.ended;
            }
            whole_before.begun += usual.begun;
            whole_before.good += usual.good;
            whole_before.ended += usual.ended;
            let share = if usual.ended > 0.0 {
                usual.good / usual.ended
            } else {
                1.0
            };
            for (point, window) in points.iter_mut().zip(&windows) {
                let calls = Calls::of(scenario, window, index);
                let length = window.end.since(window.start).as_secs_f64();
                point.good += calls.good;
                point.offered += calls.begun;
                point.expected += if before.is_empty() {
                    calls.begun
                } else if client.loops() {
                    usual.good / seconds * length
                } else {
                    (usual.good / seconds * length).min(calls.begun * share)
                };
            }
        }
        let loops = scenario.clients.iter().any(Client::loops);
        let share = if whole_before.ended > 0.0 {
            whole_before.good / whole_before.ended
        } else {
            ENOUGH
        };
        // Four standard deviations of the count are to be 5 % of it.
        let relative = DEVIATIONS / (1.0 - ENOUGH);
        let squared = relative * relative;
        let by_chance = if loops {
            squared
        } else {
            100.0 + squared * (1.0 - share)
        };
        let usual = if before.is_empty() {
            in_flight(scenario, windows.iter())
        } else {
            in_flight(scenario, before.iter().copied())
        };
        let by_edges = relative * (2.0 * usual).sqrt();
        let needed = by_chance.max(by_edges);
        let expected: f64 = points.iter().map(|point| point.expected).sum();
        let per_window = expected / points.len().max(1) as f64;
        let block = (needed / per_window).ceil().min(points.len() as f64 / 4.0);
        Series {
            baseline: (!before.is_empty()).then(|| whole_before.good / seconds),
            well_before: whole_before.good >= ENOUGH * whole_before.begun,
            block: (block as usize).max(1),
            points,
        }
    }

    /// Whether the block that begins at window `index` is bad; the last blocks are shorter.
    fn bad(&self, index: usize) -> bool {
        let block = &self.points[index..(index + self.block).min(self.points.len())];
        let good: f64 = block.iter().map(|point| point.good).sum();
        let expected: f64 = block.iter().map(|point| point.expected).sum();
        good < ENOUGH * expected
    }

    /// Windows that begin at `time` or later.
    pub(super) fn after(&self, time: Time) -> usize {
        self.points.len() - self.points.partition_point(|p| p.start < time)
    }

    /// So many windows after the trigger make a state last.
    pub(super) fn lasting(&self) -> usize {
        LASTING.max(LASTING_BLOCKS * self.block)
    }

    /// The beginnings of all whole blocks, at least one if there is any window at all.
    fn blocks(&self) -> std::ops::Range<usize> {
        let whole = (self.points.len() + 1).saturating_sub(self.block);
        0..whole.max(self.points.len().min(1))
    }

    pub(super) fn verdict(&self, trigger: Option<Trigger>) -> Verdict {
        let from = |time: Time| self.points.partition_point(|point| point.start < time);
        let blocks = self.blocks();
        // Without a block that begins with the trigger or later, nothing tells before from after.
        let Some(trigger) = trigger.filter(|trigger| from(trigger.begin) < blocks.end) else {
            let good: f64 = self.points.iter().map(|point| point.good).sum();
            let offered: f64 = self.points.iter().map(|point| point.offered).sum();
            let well = good >= ENOUGH * offered;
            return if well {
                Verdict::Healthy
            } else {
                Verdict::Degraded
            };
        };
        let disturbed = blocks
            .clone()
            .skip(from(trigger.begin))
            .any(|i| self.bad(i));
        let unless_ill = |verdict| {
            if self.well_before {
                verdict
            } else {
                Verdict::Degraded
            }
        };
        if !disturbed {
            return unless_ill(Verdict::Healthy);
        }
        let Some(end) = trigger.end else {
            return Verdict::Degraded;
        };
        let after = from(end);
        if after >= blocks.end {
            return Verdict::Degraded;
        }
        let bad: Vec<bool> = (after..blocks.end).map(|i| self.bad(i)).collect();
        match self.well_again(after, &bad) {
            Some(well) => unless_ill(Verdict::Recovered {
                after: self.points[well].start.since(end),
            }),
            None if self.after(end) >= self.lasting() => Verdict::Metastable,
            None => Verdict::Degraded,
        }
    }
    /// The window from which on it was well for good; `bad` are the blocks from window `after` on.
    fn well_again(&self, after: usize, bad: &[bool]) -> Option<usize> {
        let Some(last_bad) = bad.iter().rposition(|&bad| bad) else {
            return Some(after);
        };
        let longest = |what: bool| {
            let same = bad[..=last_bad].chunk_by(|one, other| one == other);
            let found = same.scan(0, |begin, run| {
                let begins = std::mem::replace(begin, *begin + run.len());
                Some((begins, run))
            });
            let found = found.filter(|(_, run)| run[0] == what);
            found.max_by_key(|(begins, run)| (run.len(), std::cmp::Reverse(*begins)))
        };
        // A swing that happens to end high is no recovery: it lasts longer than any good time that did not last.
        let last_good = bad.len() - 1 - last_bad;
        if last_good > longest(false).map_or(0, |(_, run)| run.len()) {
            return Some(after + last_bad + 1);
        }
        // What comes in waves is well when they carry enough.
        let ends = self.points.len();
        let least = ((ends - after) / LASTING_PART).max(self.lasting());
        let (mut good, mut expected) = (0.0, 0.0);
        let waves_carry_enough = (after..ends).rev().any(|from| {
            good += self.points[from].good;
            expected += self.points[from].expected;
            ends - from >= least && good >= ENOUGH * expected
        });
        let (begins, run) = longest(true).filter(|_| waves_carry_enough)?;
        Some(after + begins + run.len())
    }
}
