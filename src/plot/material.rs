//! What a plot is made of.

use seawall::Time;
use sim::metrics::Outcome;
use sim::scenario::Scenario;
use sim::verdict::Trigger;

use super::panel::Panel;
use super::picture::{Picture, Stroke, Text};
use super::sheet::Heading;
use super::theme;
use crate::wording;

/// A scenario, what its replications left behind, and how to speak of them.
#[derive(Clone, Copy, Debug)]
pub struct Material<'a> {
    /// What was run.
    pub scenario: &'a Scenario,
    /// One per replication.
    pub outcomes: &'a [Outcome],
    /// What happened, in one sentence.
    pub finding: &'a str,
    /// Scenario, load and seed, in a few words.
    pub setup: &'a str,
    /// Where the picture comes from.
    pub origin: &'a str,
}

impl Material<'_> {
    /// Seconds from the start to the end of arrivals.
    #[must_use]
    pub fn duration(&self) -> f64 {
        self.scenario.run.duration.as_secs_f64()
    }

    /// A heading with `title`; the subtitle says what a band is, if there are any.
    #[must_use]
    pub fn heading(&self, title: impl Into<String>) -> Heading {
        let bands = match self.outcomes.len() {
            0 | 1 => "one replication".to_string(),
            n => format!("bands: smallest to largest of {n} replications"),
        };
        Heading {
            title: title.into(),
            subtitle: format!("{} · {bands}", self.setup),
            footer: self.origin.into(),
        }
    }

    /// Shades the time in which the world is disturbed, behind everything else.
    pub fn shade_trigger(&self, picture: &mut Picture, panel: &Panel) {
        for part in Trigger::parts(self.scenario) {
            let (from, to) = self.seconds(part.begin, part.end);
            let (left, _) = panel.at((from, panel.y.from));
            let (right, _) = panel.at((to, panel.y.from));
            let right = right.max(left + 2.0);
            picture.rect(theme::TRIGGER, (left, panel.top), (right, panel.bottom));
        }
    }

    /// A dashed line where each fault ends and, with `named`, what it was.
    pub fn mark_faults(&self, picture: &mut Picture, panel: &Panel, named: bool) {
        let faults = self.scenario.faults.iter().map(|fault| {
            let words = wording::fault(self.scenario, fault);
            (self.seconds(fault.at, fault.until), fault.until, words)
        });
        // A disturbance that is in the arrivals has no other name.
        let in_arrivals = self.scenario.run.trigger.iter().map(|&(begin, end)| {
            let until = Some(end);
            (self.seconds(begin, until), until, "the trigger".into())
        });
        let of_a_fault = |end: Time| self.scenario.faults.iter().any(|f| f.until == Some(end));
        let in_arrivals = in_arrivals.filter(|(_, until, _)| !until.is_some_and(of_a_fault));
        let mut free_from = [f64::NEG_INFINITY; 3];
        for ((from, to), until, words) in faults.chain(in_arrivals) {
            let (left, _) = panel.at((from, panel.y.from));
            let (right, _) = panel.at((to, panel.y.from));
            if until.is_some() {
                let stroke = Stroke::dashed(theme::MUTED, 1.6);
                picture.line(stroke, [(right, panel.top), (right, panel.bottom)]);
            }
            if !named {
                continue;
            }
            // What has no length begins and ends there.
            let words = match until {
                Some(_) if from < to => format!("{words}, ends here"),
                _ => words,
            };
            let x = if until.is_some() { right } else { left } + 7.0;
            let text = Text::new((x, 0.0), theme::TICK, words).coloured(theme::MUTED);
            let (start, end, ..) = text.bounds();
            // Names that would run into each other go to the next line, or unsaid when all are taken.
            let Some(row) = free_from.iter().position(|free| *free <= start) else {
                continue;
            };
            free_from[row] = end + 12.0;
            let y = panel.top + theme::TICK * (1.0 + 1.3 * row as f64);
            picture.text(Text { at: (x, y), ..text });
        }
    }

    /// An interval of simulated time, what never ends cut at the end of the run.
    fn seconds(&self, from: Time, until: Option<Time>) -> (f64, f64) {
        let seconds = |time: Time| time.0 as f64 / 1e9;
        (seconds(from), until.map_or(self.duration(), seconds))
    }
}
