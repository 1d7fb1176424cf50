//! What callers have to tell apart, in the columns.

use crate::program::Folder;

/// Four callers, each of whom fails in a way of its own.
const WORLD: &str = "\
version: 1
run: { duration: 20s }
clients:
  hasty: { arrivals: { poisson: 20/s }, calls: [ { to: slow, policy: hasty } ] }
  crowd: { arrivals: { poisson: 20/s }, calls: [ { to: slow, policy: crowd } ] }
  wary: { arrivals: { poisson: 20/s }, calls: [ { to: broken, policy: wary } ] }
  stranger: { arrivals: { poisson: 20/s }, calls: [ { to: closed } ] }
  greedy: { arrivals: { poisson: 20/s }, calls: [ { to: small } ] }
  clumsy: { arrivals: { poisson: 20/s }, calls: [ { to: strict } ] }
services:
  slow: { work: 500ms }
  broken: { program: [ { respond: { fail: internal } } ] }
  closed: { program: [ { respond: { fail: unauthenticated } } ] }
  small: { program: [ { respond: { fail: overloaded } } ] }
  strict: { program: [ { respond: { fail: invalid } } ] }
policies:
  hasty: { attempt_timeout: 100ms }
  crowd: { bulkhead: 2 }
  wary: { breaker: { window: 10, failure_rate: 50%, open_for: 5s } }
";

#[test]
fn each_kind_of_error_is_counted_and_together_they_are_all_that_failed() {
    let folder = Folder::new();
    folder.write("world.yaml", WORLD);
    let ran = folder
        .run("run world.yaml --no-plots --format json")
        .ended(0);
    let summary: serde_json::Value = serde_json::from_str(&ran.stdout).expect("JSON");
    let edges = summary["figures"]["edges"].as_object().expect("edges");
    assert_eq!(edges.len(), 6);
    let mut seen = Vec::new();
    for (name, figures) in edges {
        let count = |figure: &str| figures[figure]["mean"].as_f64().expect("a number");
        let mut sum = 0.0;
        for kind in seawall::ErrorKind::ALL {
            let errors = count(&format!("errors_{}", kind.code()));
            sum += errors;
            if errors > 0.0 {
                seen.push((name.split(' ').next().expect("a caller"), kind.code()));
            }
        }
        assert_eq!(sum, count("calls_failed"), "{name}");
    }
    seen.sort_unstable();
    assert_eq!(
        seen,
        [
            ("clumsy", "protocol"),
            ("crowd", "capacity_exceeded"),
            ("greedy", "rate_limited"),
            ("hasty", "timeout"),
            ("stranger", "authentication"),
            ("wary", "circuit_open"),
            ("wary", "remote"),
        ]
    );
}
