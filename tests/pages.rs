//! The pages on policies name every key of every library's dialect, with the default that it has.

use std::fs;
use std::path::Path;

use serde_json::Value;

/// Page, heading, and the definition in the schema whose keys have rows in the tables there.
const TABLES: [(&str, &str, &str); 26] = [
    (
        "backoff-dialects",
        "AWS Architecture Blog",
        "AwsJitterBackoff",
    ),
    ("backoff-dialects", "AWS SDKs", "AwsSdkBackoff"),
    ("backoff-dialects", "Envoy", "EnvoyBackoff"),
    ("backoff-dialects", "Finagle", "FinagleBackoff"),
    ("backoff-dialects", "gRPC", "GrpcBackoff"),
    ("backoff-dialects", "Polly v8", "PollyBackoff"),
    ("backoff-dialects", "resilience4j", "Resilience4jBackoff"),
    ("budget-dialects", "gRPC retryThrottling", "GrpcThrottling"),
    ("budget-dialects", "AWS retry quota", "AwsQuotaBudget"),
    ("budget-dialects", "Envoy", "EnvoyBudget"),
    ("budget-dialects", "Envoy", "EnvoyRetryBudget"),
    ("budget-dialects", "Finagle RetryBudget", "FinagleBudget"),
    (
        "budget-dialects",
        "tower TpsBudget and Linkerd",
        "TowerTpsBudget",
    ),
    (
        "budget-dialects",
        "SRE adaptive throttling",
        "SreAdaptiveBudget",
    ),
    ("breaker-dialects", "resilience4j", "Resilience4jBreaker"),
    ("breaker-dialects", "Hystrix", "HystrixBreaker"),
    ("breaker-dialects", "Polly v8", "PollyBreaker"),
    ("breaker-dialects", "sony/gobreaker", "GoBreaker"),
    ("breaker-dialects", "Sentinel", "SentinelBreaker"),
    ("breaker-dialects", "Linkerd", "LinkerdBreaker"),
    ("limiter", "Keys", "AimdLimiter"),
    ("limiter", "Keys", "Gradient2Limiter"),
    ("limiter", "Keys", "VegasLimiter"),
    ("rate-limit", "Keys", "GcraLimit"),
    ("rate-limit", "Keys", "Resilience4jRateLimit"),
    ("rate-limit", "Keys", "AwsAdaptiveRateLimit"),
];

#[test]
fn pages_on_policies_give_every_key_and_its_default() {
    let schema: Value = serde_json::from_str(&read("schema/scenario.json")).expect("JSON");
    let mut wrong = Vec::new();
    for (page, heading, name) in TABLES {
        let text = read(&format!("docs/policies/{page}.md"));
        let rows = rows_below(&text, heading);
        for (key, default) in keys(&schema["$defs"][name]) {
            let named: Vec<_> = rows.iter().filter(|row| names(row[0], &key)).collect();
            let given = match &default {
                None => !named.is_empty(),
                Some(default) => named.iter().any(|row| says(row[1], default)),
            };
            if !given {
                wrong.push(format!(
                    "{page}.md, {heading}: `{key}`, default {default:?}"
                ));
            }
        }
    }
    assert!(wrong.is_empty(), "missing or wrong: {wrong:#?}");
}

fn read(path: &str) -> String {
    fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join(path)).expect("readable")
}

/// The first two cells of the rows of all tables in one part of a page.
fn rows_below<'t>(page: &'t str, heading: &str) -> Vec<[&'t str; 2]> {
    let below = page
        .split("\n## ")
        .find_map(|part| part.strip_prefix(heading)?.strip_prefix('\n'));
    let lines = below.unwrap_or_default().lines();
    let cells = lines.filter_map(|line| {
        let mut cells = line.strip_prefix('|')?.split('|');
        Some([cells.next()?, cells.next()?])
    });
    cells.collect()
}

/// The keys of a definition, and their defaults as text.
fn keys(definition: &Value) -> Vec<(String, Option<String>)> {
    let forms = definition["anyOf"].as_array().into_iter().flatten();
    let records = forms.chain([definition]);
    let properties = records.filter_map(|record| record["properties"].as_object());
    let keys: Vec<_> = properties
        .flatten()
        .map(|(key, value)| {
            let default = match value.get("default") {
                Some(Value::String(text)) => Some(text.clone()),
                other => other.map(Value::to_string),
            };
            (key.clone(), default)
        })
        .collect();
    assert!(!keys.is_empty(), "a definition without keys: {definition}");
    keys
}

/// Whether a cell names the key, by itself or below others.
fn names(cell: &str, key: &str) -> bool {
    let mut quoted = cell.split('`').skip(1).step_by(2);
    quoted.any(|name| name.rsplit('.').next() == Some(key))
}

/// Whether a cell has the value as a word of its own.
fn says(cell: &str, value: &str) -> bool {
    let mut words = cell.split(|c: char| !(c.is_alphanumeric() || "_.%".contains(c)));
    words.any(|word| word.trim_matches('.') == value)
}

#[test]
fn the_page_on_experiments_names_every_key() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let read = |path: &str| fs::read_to_string(root.join(path)).expect("readable");
    let page = read("docs/experiments.md");
    let schema: Value = serde_json::from_str(&read("schema/experiment.json")).expect("JSON");
    let records = schema["$defs"].as_object().expect("definitions").values();
    let keys = records.filter_map(|record| record["properties"].as_object());
    let keys: Vec<&String> = keys.flat_map(|keys| keys.keys()).collect();
    assert!(keys.len() > 20, "{keys:?}");
    for key in keys.into_iter().filter(|key| *key != "$schema") {
        let named = [format!("`{key}`"), format!("{key}:")];
        assert!(named.iter().any(|name| page.contains(name)), "{key}");
    }
}
