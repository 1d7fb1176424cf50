//! A progress bar on standard error, only when that is a terminal and nobody minds.

use std::time::Duration;

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

use crate::cli::Talk;
use crate::report::style;

/// Progress over all replications: simulated time that has passed, in thousandths of a replication.
#[derive(Clone, Debug)]
pub struct Progress(ProgressBar);

/// Parts of a replication that are counted.
pub const PARTS: u64 = 200;

impl Progress {
    /// A bar for `replications`; hidden unless standard error is a terminal.
    #[must_use]
    pub fn new(talk: Talk, what: &str, replications: u64) -> Progress {
        if talk.quiet || talk.no_progress {
            return Progress(ProgressBar::hidden());
        }
        let bar = ProgressBar::with_draw_target(
            Some(replications * PARTS),
            ProgressDrawTarget::stderr_with_hz(10),
        );
        let bar_of = match style::wanted(talk.no_color) {
            true => "{wide_bar:.cyan/dim}",
            false => "{wide_bar}",
        };
        let template =
            format!("{{prefix}} {bar_of} {{percent:>3}} %  {{msg}}{{elapsed}} (left: {{eta}})");
        let style = ProgressStyle::with_template(&template).expect("a well-formed template");
        bar.set_style(style.progress_chars("━━─"));
        bar.set_prefix(what.to_string());
        bar.enable_steady_tick(Duration::from_millis(200));
        Progress(bar)
    }

    /// `parts` more have passed.
    pub fn passed(&self, parts: u64) {
        self.0.inc(parts);
    }

    /// Says what else there is to say.
    pub fn say(&self, words: &str) {
        self.0.set_message(format!("{words}  "));
    }

    /// `replications` more are to come.
    pub fn more(&self, replications: u64) {
        self.0.inc_length(replications * PARTS);
    }

    /// Takes the bar away.
    pub fn done(&self) {
        self.0.finish_and_clear();
    }
}
