//! The `run` block.

use seawall::{Span, Time};
use serde_json::{Value as Json, json};

use crate::scenario::context::Context;
use crate::scenario::model::{Limits, Run};
use crate::scenario::problem::Problems;
use crate::scenario::tree::{At, Node, Position, Value};
use crate::scenario::written::{Bytes, Defs, Whole, Written, record};

/// More windows would need more memory than the run itself.
const WINDOWS_MAX: u64 = 1_000_000;

record! {
    /// How long, how finely measured, how often.
    pub(crate) struct RunFile {
        /// When arrivals stop.
        duration: At<Span>,
        /// Length of a measurement window.
        window: At<Span> = "1s",
        /// Totals count from here; windows are written from the start. Shorter than the duration; `auto` finds
        /// the end of the start-up with MSER-5 before the runs that count.
        warmup: At<Warmup> = "0s",
        /// How long open calls may take to end after the duration; what is still open then is counted
        /// as open.
        drain: Span = "1min",
        /// Seed of the first replication.
        seed: u64 = 42,
        /// Runs with consecutive seeds.
        replications: Whole<1> = 1,
        /// When the world is disturbed. By default from the begin of the first fault to the end of the
        /// last; needed when the disturbance is in the arrivals.
        trigger: Option<TriggerFile>,
        /// Bounds whose reaching ends the run by name, with what was computed kept.
        limits: LimitsFile,
    }
}

/// How long the world takes to start up, or `auto`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Warmup(Option<Span>);

impl Written for Warmup {
    fn decode(node: &Node, problems: &mut Problems) -> Option<Self> {
        if node.value == Value::String("auto".into()) {
            return Some(Warmup(None));
        }
        Span::decode(node, problems).map(|span| Warmup(Some(span)))
    }

    fn schema(defs: &mut Defs) -> Json {
        json!({ "anyOf": [Span::schema(defs), { "const": "auto" }] })
    }
}

record! {
    /// When the world is disturbed.
    pub(crate) struct TriggerFile {
        /// When it begins.
        at: Span,
        /// How long it lasts.
        r#for: Span,
    }
}

record! {
    /// Bounds whose reaching ends the run by name, with what was computed kept.
    pub(crate) struct LimitsFile {
        /// Events handled.
        events: u64 = 10_000_000_000,
        /// Calls in flight at once, all layers.
        calls: u64 = 2_000_000,
        /// Jobs waiting at any one service.
        queue: u64 = 2_000_000,
        /// What everything in flight and every window takes, as the kernel counts it: looked at when a window closes and
        /// as calls in flight grow.
        memory: Bytes = "4GiB",
        /// Events in a row in which no time passes, as in a loop without a pause; the run ends after at least so many
        /// and at most twice as many.
        standstill: u64 = 10_000_000,
    }
}

impl RunFile {
    pub(crate) fn mean(&self, context: &mut Context<'_>) -> Run {
        let duration = self.duration.value;
        if duration == Span::ZERO {
            refuse(
                "duration",
                self.duration.at,
                "must be above 0s".into(),
                context,
            );
        }
        let window = self.window.value;
        if window == Span::ZERO || window > duration {
            let message =
                format!("must be above 0s and at most the duration ({duration}), got {window}");
            refuse("window", self.window.at, message, context);
        } else if duration.0.div_ceil(window.0) > WINDOWS_MAX {
            let windows = duration.0.div_ceil(window.0);
            let message =
                format!("{window} in {duration} makes {windows} windows, more than {WINDOWS_MAX}");
            refuse("window", self.window.at, message, context);
        }
        let warmup = self.warmup.value.0.unwrap_or(Span::ZERO);
        if warmup >= duration {
            let message = format!("must be shorter than the duration ({duration}), got {warmup}");
            refuse("warmup", self.warmup.at, message, context);
        }
        let trigger = self.trigger.as_ref().map(|trigger| {
            if trigger.at >= duration {
                let message = format!("begins at {}, after the end ({duration})", trigger.at);
                refuse("trigger", trigger.position, message, context);
            }
            let from = Time::ZERO.after(trigger.at);
            (from, from.after(trigger.r#for))
        });
        Run {
            duration,
            window,
            warmup,
            detect_warmup: self.warmup.value.0.is_none(),
            drain: self.drain,
            seed: self.seed,
            replications: self.replications.0,
            limits: self.limits.mean(),
            trigger,
        }
    }
}

impl LimitsFile {
    fn mean(&self) -> Limits {
        Limits {
            events: self.events,
            calls: self.calls,
            queue: self.queue,
            memory: self.memory.0,
            // With 0 the first event would be too many.
            standstill: self.standstill.max(1),
        }
    }
}

fn refuse(key: &str, at: Position, message: String, context: &mut Context<'_>) {
    context.within(key, |context| context.report(at, message));
}
