//! One station and who calls it: queues, loss, disciplines, impatience, retries and orbits.

use serde_json::Value as Json;

use crate::validate::case::Case;
use crate::validate::measure::named;
use crate::validate::plan::Experiment;
use crate::validate::text::{Text, arrivals, law, span, work_then_fail};

/// One experiment with all metrics of the case.
pub(super) fn experiments(case: &Case, scale: f64) -> Result<Vec<Experiment>, String> {
    let text = world(case, scale)?;
    Ok(vec![measured(case, text, case.size(scale).replications)])
}

/// An experiment that reads every metric of the case by its name.
pub(super) fn measured(case: &Case, text: Text, replications: u32) -> Experiment {
    let names: Vec<String> = case.metrics.keys().cloned().collect();
    let id = case.id.clone();
    Experiment::logged(text, replications, move |run| {
        let value = |name: &String| {
            let value = named(run, name).unwrap_or_else(|| panic!("{id}: no metric {name}"));
            (name.clone(), value)
        };
        names.iter().map(value).collect()
    })
}

/// The scenario of a case with sources, stations and a client.
pub(super) fn world(case: &Case, scale: f64) -> Result<Text, String> {
    let mut text = sized(case, scale);
    let client = case.model.get("client");
    let stations = case
        .get("/stations")
        .as_array()
        .map_or(&[][..], Vec::as_slice);
    let sources = case
        .get("/sources")
        .as_array()
        .map_or(&[][..], Vec::as_slice);
    let policy = client.and_then(policy).map(|policy| {
        text.policies.push(format!("retrying: {policy}"));
        ", policy: retrying"
    });
    let policy = policy.unwrap_or("");

    let target = if case.model.get("route").is_some() {
        // Requests go from station to station; the chain stands for the whole way.
        let calls: Vec<String> = (0..stations.len())
            .map(|i| format!("{{ call: s{i} }}"))
            .collect();
        text.services
            .push(format!("chain: {{ program: [ {} ] }}", calls.join(", ")));
        for (i, station) in stations.iter().enumerate() {
            text.services
                .push(format!("s{i}: {}", service(station, 1, client)?));
        }
        "chain"
    } else {
        // Stations that share their arrivals in turn are replicas of one service.
        text.services.push(format!(
            "s: {}",
            service(&stations[0], stations.len(), client)?
        ));
        "s"
    };

    for (class, source) in sources.iter().enumerate() {
        let arrival = &source["arrival"];
        let several = sources.len() > 1;
        let name = if several {
            format!("class{class}")
        } else {
            "source".into()
        };
        let operation = if several {
            format!(", operation: class{class}, priority: {class}")
        } else {
            String::new()
        };
        let call = format!("{{ to: {target}{operation}{policy} }}");
        text.clients.push(if arrival["type"] == "closed" {
            let think = law(&arrival["think"]);
            format!(
                "{name}: {{ instances: {}, start: {think}, loop: [ {{ call: {call} }}, {{ delay: {think} }} ] }}",
                arrival["clients"]
            )
        } else {
            format!("{name}: {{ arrivals: {}, calls: [ {call} ] }}", arrivals(arrival))
        });
    }
    Ok(text)
}

/// Title and lengths: so many customers at the rate at which they come.
pub(super) fn sized(case: &Case, scale: f64) -> Text {
    let rate = arrival_rate(case);
    let size = case.size(scale);
    let duration = (size.customers + size.warmup) / rate;
    Text {
        title: format!("{}: {}", case.id, case.title),
        duration,
        warmup: size.warmup / rate,
        // Everything that is open at the end is waited for: a bound would favour the short ones.
        drain: duration,
        ..Text::default()
    }
}

/// Customers per second, all sources.
fn arrival_rate(case: &Case) -> f64 {
    let of = |source: &Json| {
        let arrival = &source["arrival"];
        match arrival["type"].as_str() {
            Some("renewal") => 1.0 / mean(&arrival["interarrival"]),
            // Their rate is an answer, not given.
            Some("closed") => case.metrics["throughput"].expected().unwrap_or(1.0),
            _ => arrival["rate"].as_f64().unwrap_or(1.0),
        }
    };
    case.get("/sources")
        .as_array()
        .into_iter()
        .flatten()
        .map(of)
        .sum()
}

fn mean(law: &Json) -> f64 {
    match law["type"].as_str() {
        Some("erlang") => law["k"].as_f64().unwrap_or(1.0) / law["rate"].as_f64().unwrap_or(1.0),
        Some("exp") => 1.0 / law["rate"].as_f64().unwrap_or(1.0),
        _ => law["value"].as_f64().unwrap_or(1.0),
    }
}

/// `replicas` stations of one kind as a service.
fn service(station: &Json, replicas: usize, client: Option<&Json>) -> Result<String, String> {
    let mut parts = Vec::new();
    if replicas > 1 {
        parts.push(format!("replicas: {replicas}, balance: round_robin"));
    }
    if let Some(servers) = station["servers"].as_u64() {
        match sharing(station) {
            Some(rule) => parts.push(format!("serve: {{ {rule}: {servers} }}")),
            None => {
                parts.push(format!("concurrency: {servers}"));
                parts.push(format!("queue: {{ {} }}", queue(station, servers, client)?));
            }
        }
    }
    if let Some(laws) = station["service_by_class"].as_array() {
        let of = |(class, work): (usize, &Json)| format!("class{class}: {{ work: {} }}", law(work));
        let operations: Vec<String> = laws.iter().enumerate().map(of).collect();
        parts.push(format!("operations: {{ {} }}", operations.join(", ")));
    } else {
        let work = law(&station["service"]);
        parts.push(match station["failure_prob"].as_f64() {
            Some(failure) => format!("program: {}", work_then_fail(Some(&work), failure)),
            None => format!("work: {work}"),
        });
    }
    Ok(format!("{{ {} }}", parts.join(", ")))
}

/// How jobs share the servers, where all begin at once.
fn sharing(station: &Json) -> Option<&'static str> {
    Some(match station["discipline"].as_str()? {
        "ps" => "processor_sharing",
        "lifo_pr" => "preemptive_lifo",
        "prio_pr" => "preemptive_priority",
        _ => return None,
    })
}

fn queue(station: &Json, servers: u64, client: Option<&Json>) -> Result<String, String> {
    let discipline = match station["discipline"].as_str() {
        Some("fifo") | None => "fifo",
        Some("lifo_np") => "lifo",
        Some("siro") => "siro",
        Some("prio_np") => "priority",
        Some(other) => return Err(format!("the discipline `{other}`")),
    };
    let mut parts = vec![format!("discipline: {discipline}")];
    if let Some(capacity) = station["capacity"].as_u64() {
        parts.push(format!("capacity: {}", capacity - servers));
    }
    if let Some(patience) = client.and_then(|client| client.get("patience")) {
        parts.push(format!("max_wait: {}", law(patience)));
    }
    Ok(parts.join(", "))
}

/// What the client does about failed attempts; `None` for nothing.
fn policy(client: &Json) -> Option<String> {
    let attempts = match &client["max_attempts"] {
        Json::Null => "unlimited".to_owned(),
        attempts if attempts.as_u64() == Some(1) => return None,
        attempts => attempts.to_string(),
    };
    let kinds = client["retry_on"].as_array().into_iter().flatten();
    let kinds: Vec<&str> = kinds
        .map(|kind| match kind.as_str() {
            Some("deadline") => "timeout",
            _ => "unavailable",
        })
        .collect();
    let laws = client["backoff"].as_array().map_or(&[][..], Vec::as_slice);
    let persistence = match client["persistence"].as_f64() {
        Some(persistence) if persistence < 1.0 => format!(", persistence: {persistence}"),
        _ => String::new(),
    };
    Some(format!(
        "{{ {}retry: {{ max_attempts: {attempts}, backoff: {}, on: [ {} ]{persistence} }} }}",
        timeout(client),
        backoff(laws),
        kinds.join(", ")
    ))
}

/// The deadline of each attempt, if it has one.
fn timeout(client: &Json) -> String {
    let law = &client["deadline_dist"];
    match (law["type"].as_str(), client["deadline"].as_f64()) {
        (Some("exp"), _) => {
            let mean = 1.0 / law["rate"].as_f64().unwrap_or(1.0);
            format!(
                "attempt_timeout: {}, attempt_timeout_jitter: exponential, ",
                span(mean)
            )
        }
        (_, Some(deadline)) => format!("attempt_timeout: {}, ", span(deadline)),
        _ => String::new(),
    }
}

/// Waits before the first, second, … retry, as a cap that stays or grows and a jitter.
pub(super) fn backoff(laws: &[Json]) -> String {
    let caps: Vec<(f64, &str)> = laws.iter().map(cap_and_jitter).collect();
    let (base, jitter) = caps[0];
    if base == 0.0 {
        return "none".into();
    }
    if caps.len() == 1 {
        return format!("{{ fixed: {{ delay: {}, jitter: {jitter} }} }}", span(base));
    }
    let multiplier = caps[1].0 / base;
    format!(
        "{{ exponential: {{ base: {}, multiplier: {multiplier}, jitter: {jitter} }} }}",
        span(base)
    )
}

fn cap_and_jitter(law: &Json) -> (f64, &'static str) {
    let number = |key: &str| law[key].as_f64().unwrap_or(0.0);
    match law["type"].as_str() {
        Some("exp") => (1.0 / number("rate"), "exponential"),
        Some("uniform") if number("a") == 0.0 => (number("b"), "full"),
        Some("uniform") => (number("b"), "equal"),
        _ => (number("value"), "none"),
    }
}
