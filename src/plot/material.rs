//! What a plot is made of.

use sim::metrics::Outcome;
use sim::scenario::model::{Fault, Scenario};

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

    /// Shades the time in which faults act, behind everything else.
    pub fn shade_faults(&self, picture: &mut Picture, panel: &Panel) {
        for fault in &self.scenario.faults {
            let (from, to) = self.fault_interval(fault);
            let (left, _) = panel.at((from, panel.y.from));
            let (right, _) = panel.at((to, panel.y.from));
            let right = right.max(left + 2.0);
            picture.rect(theme::TRIGGER, (left, panel.top), (right, panel.bottom));
        }
    }

    /// A dashed line where each fault ends and, with `named`, what it was.
    pub fn mark_faults(&self, picture: &mut Picture, panel: &Panel, named: bool) {
        let mut free_from = [f64::NEG_INFINITY; 3];
        for fault in &self.scenario.faults {
            let (from, to) = self.fault_interval(fault);
            let (left, _) = panel.at((from, panel.y.from));
            let (right, _) = panel.at((to, panel.y.from));
            if fault.until.is_some() {
                let stroke = Stroke::dashed(theme::MUTED, 1.6);
                picture.line(stroke, [(right, panel.top), (right, panel.bottom)]);
            }
            if !named {
                continue;
            }
            let words = wording::fault(self.scenario, fault);
            let words = if fault.until.is_some() {
                format!("{words}, ends here")
            } else {
                words
            };
            let x = if fault.until.is_some() { right } else { left } + 7.0;
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

    fn fault_interval(&self, fault: &Fault) -> (f64, f64) {
        let seconds = |ns: u64| ns as f64 / 1e9;
        (
            seconds(fault.at.0),
            fault.until.map_or(self.duration(), |t| seconds(t.0)),
        )
    }
}
