//! A call as Chrome trace events, which ui.perfetto.dev and chrome://tracing read.
//!
//! One process for each client and service; in it a track for each call and each job, on which what belongs to it is nested.
//! Times are microseconds since the run began.

use indexmap::IndexSet;
use serde_json::{Value, json};

use super::span::{Fact, Span, What};

/// The document.
#[must_use]
pub fn events(span: &Span) -> String {
    let mut tracks = Tracks {
        owners: IndexSet::new(),
        next: 1,
        events: Vec::new(),
    };
    tracks.add(span, 0);
    let names = tracks.owners.iter().enumerate().map(|(i, owner)| {
        json!({ "ph": "M", "name": "process_name", "pid": i + 1, "args": { "name": owner } })
    });
    let mut events: Vec<Value> = names.collect();
    events.append(&mut tracks.events);
    let document = json!({ "traceEvents": events, "displayTimeUnit": "ms" });
    serde_json::to_string_pretty(&document).expect("keys are strings") + "\n"
}

struct Tracks {
    owners: IndexSet<String>,
    next: u64,
    events: Vec<Value>,
}

impl Tracks {
    fn add(&mut self, span: &Span, track: u64) {
        // What may overlap with its neighbours has a track of its own.
        let track = match span.what {
            What::Call | What::Job => {
                self.next += 1;
                self.next
            }
            _ => track,
        };
        let (process, _) = self.owners.insert_full(span.owner.clone());
        let micros = |ns: u64| ns as f64 / 1e3;
        let length = span.to.unwrap_or_else(|| span.last()).since(span.from);
        let mut facts = serde_json::Map::new();
        if !span.words.is_empty() {
            facts.insert("outcome".into(), json!(span.words));
        }
        for (key, fact) in &span.facts {
            let value = match fact {
                Fact::Text(text) => json!(text),
                Fact::Number(number) => json!(number),
            };
            facts.insert((*key).into(), value);
        }
        self.events.push(json!({
            "ph": "X",
            "name": span.name,
            "cat": category(span.what),
            "pid": process + 1,
            "tid": track,
            "ts": micros(span.from.0),
            "dur": micros(length.0),
            "args": facts,
        }));
        for child in &span.children {
            self.add(child, track);
        }
    }
}

const fn category(what: What) -> &'static str {
    match what {
        What::Call => "call",
        What::Attempt => "attempt",
        What::Wait => "wait",
        What::Leg => "phase",
        What::Job => "job",
        What::Queue => "queue",
        What::Work => "work",
    }
}
