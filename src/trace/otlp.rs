//! A call as OTLP JSON (OpenTelemetry protocol, `ExportTraceServiceRequest` in its JSON mapping).
//!
//! One resource for each client and service, one span for each call, attempt and job; queue, work and waits are spans of
//! kind internal. Times are nanoseconds since the run began, so that a viewer shows them from 1970-01-01T00:00:00Z on.

use indexmap::IndexMap;
use serde_json::{Value, json};

use super::span::{Fact, Outcome, Span, What};

/// The request that a collector would be sent.
#[must_use]
pub fn export(scenario: &str, seed: u64, number: u64, span: &Span) -> String {
    let mut spans = Spans {
        trace: format!("{seed:016x}{number:016x}"),
        next: 1,
        by_owner: IndexMap::new(),
    };
    spans.add(span, None);
    let resources: Vec<Value> = (spans.by_owner.into_iter())
        .map(|(owner, spans)| {
            let attributes = [
                attribute("service.name", &Fact::Text(owner)),
                attribute("service.namespace", &Fact::Text(scenario.into())),
            ];
            let scope = json!({ "name": "retrystorm", "version": env!("CARGO_PKG_VERSION") });
            json!({
                "resource": { "attributes": attributes },
                "scopeSpans": [{ "scope": scope, "spans": spans }],
            })
        })
        .collect();
    let document = json!({ "resourceSpans": resources });
    serde_json::to_string_pretty(&document).expect("keys are strings") + "\n"
}

struct Spans {
    trace: String,
    next: u64,
    by_owner: IndexMap<String, Vec<Value>>,
}

impl Spans {
    fn add(&mut self, span: &Span, parent: Option<&str>) {
        let id = format!("{:016x}", self.next);
        self.next += 1;
        let kind = match span.what {
            What::Attempt => 3,
            What::Job => 2,
            What::Call | What::Wait | What::Leg | What::Queue | What::Work => 1,
        };
        let status = match span.outcome {
            Outcome::Ok => json!({ "code": 1 }),
            Outcome::Failed | Outcome::Wasted => json!({ "code": 2, "message": span.words }),
            Outcome::Neither => json!({}),
        };
        let facts = span.facts.iter().map(|(key, fact)| attribute(key, fact));
        let mut value = json!({
            "traceId": self.trace,
            "spanId": id,
            "name": span.name,
            "kind": kind,
            "startTimeUnixNano": span.from.0.to_string(),
            "endTimeUnixNano": span.to.unwrap_or_else(|| span.last()).0.to_string(),
            "attributes": facts.collect::<Vec<_>>(),
            "status": status,
        });
        if let Some(parent) = parent {
            value["parentSpanId"] = json!(parent);
        }
        self.by_owner
            .entry(span.owner.clone())
            .or_default()
            .push(value);
        for child in &span.children {
            self.add(child, Some(&id));
        }
    }
}

/// Numbers are text, as in the JSON mapping of 64-bit integers.
fn attribute(key: &str, fact: &Fact) -> Value {
    let value = match fact {
        Fact::Text(text) => json!({ "stringValue": text }),
        Fact::Number(number) => json!({ "intValue": number.to_string() }),
    };
    json!({ "key": key, "value": value })
}
