//! Nothing that is written makes reading panic, and what is loaded is whole.

use proptest::prelude::*;
use sim::scenario::{Format, Override, Source, Topology, load};

use crate::samples::{SAMPLES, fetch};

/// Texts that mean something to a reader: units, signs, words of the language, broken syntax.
const PIECES: &[&str] = &[
    "0",
    "-1",
    "1e999",
    "0.5",
    "99999999999999999999",
    "1ns",
    "584y",
    "20%",
    "unlimited",
    "none",
    "null",
    "~",
    "{}",
    "[]",
    "[",
    "}",
    ": ",
    "- ",
    "&a ",
    "*a",
    "<<: ",
    "!!str ",
    "'",
    "\"",
    "#",
    "\n",
    "  ",
    "\t",
    "->",
    "service: s",
    "to: s",
    "ok",
    "fail",
    "exponential: ",
    "timeout",
    "\u{0}",
    "\u{feff}",
    "ä",
    "1/s",
    "1s",
];

fn try_all(text: &str) {
    for format in [Format::Yaml, Format::Toml, Format::Json] {
        let source = Source {
            name: "x",
            text,
            format,
        };
        if let Ok(scenario) = load(&source, &[], &mut fetch) {
            // What was let through holds together.
            let topology = Topology::of(&scenario);
            assert_eq!(topology.worst_amplification.len(), scenario.services.len());
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(300) })]

    /// Pieces put into, or in place of, parts of files that load.
    #[test]
    fn mutilated_files_are_read_or_refused(
        sample in 0..SAMPLES.len(),
        changes in prop::collection::vec((any::<prop::sample::Index>(), 0..20usize, 0..PIECES.len()), 1..6),
    ) {
        let mut text: Vec<char> = SAMPLES[sample].chars().collect();
        for (at, length, piece) in changes {
            let at = at.index(text.len());
            let end = (at + length).min(text.len());
            text.splice(at..end, PIECES[piece].chars());
        }
        try_all(&text.into_iter().collect::<String>());
    }

    /// Any text at all.
    #[test]
    fn any_text_is_read_or_refused(text in "\\PC{0,200}") {
        try_all(&text);
    }

    /// Any override of a file that loads.
    #[test]
    fn any_override_is_taken_or_refused(
        sample in 0..SAMPLES.len(),
        path in "(run|clients|services|policies|faults|0|1|web|s|sdk|retry|backoff|work|x)(\\.(0|1|web|s|sdk|retry|backoff|exponential|base|queue|capacity|at|for|slow|factor|x)){0,4}",
        piece in 0..PIECES.len(),
    ) {
        let source = Source { name: "x", text: SAMPLES[sample], format: Format::Yaml };
        let change = Override::new(path, PIECES[piece]);
        let _ = load(&source, &[change], &mut fetch);
    }
}
