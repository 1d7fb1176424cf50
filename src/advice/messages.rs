//! Message queues, held against how long their consumers take.

use super::facts::{Facts, Length};
use super::{Finding, Severity, Trap};
use crate::number::{duration, share};

/// A visibility should be so many times the work.
const TIMES: f64 = 6.0;
/// More deliveries than this share that outlast it are a mistake.
const FEW: f64 = 0.01;

pub(super) const TRAPS: [Trap; 1] = [Trap {
    name: "visibility-shorter-than-work",
    severity: Severity::Mistake,
    seen: "More than one delivery in a hundred takes longer than the `visibility` of its message, and no `heartbeat` \
           keeps it hidden.",
    why: "The message is delivered again while the first consumer is still at it: its effects are done twice, \
          consumers are busy with work that is done already, and with `max_receives` good messages are given up.",
    source: "AWS Lambda developer guide, Using Lambda with Amazon SQS (visibility of six times the function's timeout)",
    find: too_short,
}];

fn too_short(facts: &Facts<'_>) -> Vec<Finding> {
    let mut found = Vec::new();
    for (index, service) in facts.scenario.services.iter().enumerate() {
        let Some(messages) = service.messages().filter(|m| m.heartbeat.is_none()) else {
            continue;
        };
        let entries = facts
            .operations(index)
            .map(|of| service.operations[of].entry);
        let lengths = entries.filter_map(|entry| Length::of_program(facts.scenario, entry));
        let longest = lengths.max_by_key(|length| length.quantile(0.99));
        let Some(longest) = longest.filter(|length| length.beyond(messages.visibility) > FEW)
        else {
            continue;
        };
        let beyond = longest.beyond(messages.visibility);
        let p99 = longest.quantile(0.99).as_secs_f64();
        let visibility = messages.visibility.as_secs_f64();
        found.push(Finding {
            place: facts.of_service(index, &["messages"]),
            subject: service.name.clone(),
            reason: format!(
                "{} of deliveries take longer than the {} for which their message is hidden; p99 is {} ({})",
                share(beyond),
                duration(visibility),
                duration(p99),
                longest.method()
            ),
            figures: vec![
                ("outlasting_share", beyond),
                ("visibility_s", visibility),
                ("work_p99_s", p99),
            ],
            mend: format!(
                "`visibility: {}` (six times the median, and at least the 99th percentile) or more, or a `heartbeat`",
                duration((TIMES * longest.quantile(0.5).as_secs_f64()).max(p99)).replace(' ', "")
            ),
        });
    }
    found
}
