//! Caches with contents, in worlds small enough to reckon by hand.

use sim::metrics::{CacheCount, Outcome};

use crate::{run, wrong};

/// A client calls `front`, which works for a second and looks something up; the way to it is a call of `api`, which takes five
/// seconds.
fn world(front: &str, cache: &str, more: &str) -> String {
    format!(
        "
version: 1
run: {{ duration: 1000s, window: 100s, drain: 1000s }}
clients: {{ web: {{ arrivals: {{ trace: a.csv }}, calls: [ {{ to: front, policy: p }} ] }} }}
services:
  front: {{ {front} program: [ {{ work: 1s }}, {{ cache: {{ {cache} }} }} ] }}
  api: {{ work: 5s }}
policies: {{ p: {{}}, hasty: {{ attempt_timeout: 2s }} }}
{more}
"
    )
}

const MISS: &str = "miss: { call: api }";

fn count(outcome: &Outcome) -> &CacheCount {
    &outcome.drained.caches[0]
}

/// How long each call of the client took, in seconds, in the order in which they ended.
fn calls(outcome: &Outcome) -> Vec<f64> {
    let log = outcome.log.as_ref().expect("a log");
    let tops = log.calls.iter().filter(|call| call.edge == 0);
    tops.map(|call| call.ended.since(call.began).as_secs_f64())
        .collect()
}

fn every(step: f64, times: u32) -> String {
    let arrivals = (0..times).map(|n| format!("{}", f64::from(n) * step));
    arrivals.collect::<Vec<_>>().join("\n")
}

#[test]
fn what_was_fetched_is_there_until_it_expires() {
    let arrivals = "0\n7\n17";
    let outcome = run(
        &world("", &format!("keys: 1, ttl: 10s, {MISS}"), ""),
        arrivals,
    );
    // Looked up at 1, 8 and 18 s; stored from 6 to 16 s.
    assert_eq!(calls(&outcome), [6.0, 1.0, 6.0]);
    let counted = count(&outcome);
    assert_eq!((counted.lookups, counted.hits, counted.misses), (3, 1, 2));
    assert_eq!(
        (counted.expired, counted.fetches, counted.stored),
        (1, 2, 2)
    );
    let outcome = run(&world("", &format!("keys: 1, {MISS}"), ""), arrivals);
    assert_eq!(calls(&outcome), [6.0, 1.0, 1.0]);
    let cache = format!("keys: 1, hit: [ {{ work: 1s }}, {{ delay: 1s }} ], {MISS}");
    assert_eq!(
        calls(&run(&world("", &cache, ""), arrivals)),
        [6.0, 3.0, 3.0]
    );
}

#[test]
fn who_misses_what_is_being_fetched_waits_for_it_if_so_told() {
    let of = |cache: &str| run(&world("", &format!("keys: 1, {cache}"), ""), "0\n2\n4\n10");
    assert_eq!(calls(&of(MISS)), [6.0, 6.0, 6.0, 1.0]);
    let together = of(&format!("coalesce: true, {MISS}"));
    assert_eq!(calls(&together), [6.0, 4.0, 2.0, 1.0]);
    let counted = count(&together);
    assert_eq!(
        (counted.fetches, counted.waits, counted.released),
        (1, 2, 2)
    );
    assert_eq!(together.drained.services[1].arrived, 1);
    // A failure is one of all who wait; the next one tries again.
    let failing = of("coalesce: true, miss: { call: { to: api, policy: hasty } }");
    assert_eq!(calls(&failing), [3.0, 1.0, 3.0, 3.0]);
    assert_eq!(
        (failing.drained.edges[0].ok, count(&failing).failed),
        (0, 3)
    );
}

#[test]
fn who_waits_needs_no_worker_and_different_things_are_not_shared() {
    let one = format!("keys: 1, coalesce: true, {MISS}");
    let lent = "concurrency: 1, holds_worker: false,";
    assert_eq!(
        calls(&run(&world(lent, &one, ""), "0\n0\n0")),
        [6.0, 6.0, 6.0]
    );
    let held = "concurrency: 1,";
    assert_eq!(
        calls(&run(&world(held, &one, ""), "0\n0\n0")),
        [6.0, 7.0, 8.0]
    );
    let fetches = |keys: u32| {
        let cache = format!("keys: {keys}, coalesce: true, {MISS}");
        count(&run(&world("", &cache, ""), &every(0.01, 200))).fetches
    };
    assert_eq!(fetches(1), 1);
    assert!((40..=50).contains(&fetches(50)), "{}", fetches(50));
}

#[test]
fn replicas_have_a_cache_each_or_one_together() {
    let hits = |scope: &str| {
        let cache = format!("keys: 1, {scope} {MISS}");
        count(&run(&world("replicas: 2,", &cache, ""), "0\n10\n20\n30")).hits
    };
    assert_eq!(hits(""), 2);
    assert_eq!(hits("scope: replica,"), 2);
    assert_eq!(hits("scope: service,"), 3);
}

#[test]
fn a_full_cache_forgets_what_was_not_asked_for_the_longest() {
    let of = |cache: &str| {
        let cache = format!("keys: 100, {cache} {MISS}");
        count(&run(&world("", &cache, ""), &every(7.0, 100))).clone()
    };
    let (all, one) = (of(""), of("capacity: 1,"));
    assert_eq!((all.evicted, all.hits + all.stored), (0, 100));
    assert!(one.evicted >= 90 && one.hits < all.hits, "{one:?}");
    // Filled with the most popular: a tenth of the things, more than half of the wishes.
    let even = of("capacity: 10, filled: true,");
    let skewed = of("capacity: 10, filled: true, skew: 1.5,");
    assert!(even.hits < 25 && skewed.hits > 50, "{even:?} {skewed:?}");
    assert_eq!(of("filled: true,").misses, 0);
}

#[test]
fn what_is_there_at_first_is_of_any_age_and_lives_are_as_long_as_said() {
    let fetches = |cache: &str| {
        let cache = format!("keys: 1, {cache} {MISS}");
        count(&run(&world("", &cache, ""), &every(10.0, 90))).fetches
    };
    // Stored for 100 s each time, with 5 s of fetching.
    assert_eq!(fetches("ttl: 100s,"), 9);
    assert!(fetches("ttl: 100s, ttl_jitter: 100%,") > 12);
    assert_eq!(fetches("ttl: 100s, ttl_jitter: 0%,"), 9);
    assert_eq!(fetches("filled: true,"), 0);
    let cache = format!("keys: 1000, ttl: 100s, filled: true, {MISS}");
    let outcome = run(&world("", &cache, ""), &every(0.1, 500));
    // A quarter of them expire in the first fifty seconds, on average over these.
    let expired = count(&outcome).expired;
    assert!((80..=140).contains(&expired), "{expired}");
    assert_eq!(count(&outcome).misses, expired);
}

#[test]
fn a_failed_fetch_may_delete_what_another_one_stored() {
    let more = "faults: [ { at: 3500ms, for: 1s, errors: { service: api, after_program: true } } ]";
    let of = |rule: &str| {
        let cache = format!("keys: 1, {rule} {MISS}");
        run(&world("", &cache, more), "0\n3\n12")
    };
    // The first stores at 6 s what the second, which fails at 9 s, may delete; the third looks at 13 s.
    for keep in ["", "on_failure: keep,", "ttl: 100s, on_failure: stale,"] {
        assert_eq!(count(&of(keep)).hits, 1, "{keep}");
    }
    let deleted = of("on_failure: delete,");
    assert_eq!((count(&deleted).hits, count(&deleted).deleted), (0, 1));
    assert_eq!(deleted.drained.edges[0].ok, 2);
}

#[test]
fn a_program_may_go_on_with_what_is_too_old() {
    let more = "faults: [ { at: 10s, errors: { service: api } } ]";
    let of = |rule: &str| {
        let cache = format!("keys: 1, ttl: 2s, {rule} {MISS}");
        run(&world("", &cache, more), "0\n12\n12\n20")
    };
    assert_eq!(of("").drained.edges[0].ok, 1);
    for stale in ["on_failure: stale,", "on_failure: stale, coalesce: true,"] {
        let outcome = of(stale);
        assert_eq!(outcome.drained.edges[0].ok, 4, "{stale}");
        let counted = count(&outcome);
        assert_eq!(counted.stale, counted.failed);
        assert_eq!(counted.expired, 3);
    }
    // What was never there cannot be too old.
    let at_once = more.replace("10s", "0s");
    let cache = format!("keys: 1, ttl: 2s, on_failure: stale, {MISS}");
    let outcome = run(&world("", &cache, &at_once), "0");
    assert_eq!(outcome.drained.edges[0].ok, 0);
}

#[test]
fn caches_are_lost_with_their_replica_and_by_a_fault() {
    let of = |cache: &str, fault: &str| {
        let cache = format!("keys: 1, {cache} {MISS}");
        let more = format!("faults: [ {{ at: 20s, {fault} }} ]");
        count(&run(
            &world("restart: { after: 1s },", &cache, &more),
            "0\n10\n30",
        ))
        .clone()
    };
    for (scope, fault, hits) in [
        ("", "crash: front", 1),
        ("scope: service,", "crash: front", 2),
        ("", "empty_cache: front", 1),
        ("scope: service,", "empty_cache: front", 1),
        ("", "empty_cache: { service: front, share: 0% }", 2),
    ] {
        let counted = of(scope, fault);
        assert_eq!(counted.hits, hits, "{scope} {fault}");
        assert_eq!(counted.emptied, 2 - hits, "{scope} {fault}");
    }
    let emptied = |fault: &str| {
        let cache = format!("keys: 1000, filled: true, {MISS}");
        let more = format!("faults: [ {{ at: 20s, empty_cache: {{ service: front, {fault} }} }} ]");
        count(&run(&world("replicas: 2,", &cache, &more), "0")).emptied
    };
    assert_eq!(emptied("replicas: 1"), 1000);
    assert_eq!(emptied("share: 100%"), 2000);
    let half = emptied("share: 50%");
    assert!((900..=1100).contains(&half), "{half}");
}

#[test]
fn who_waits_for_one_who_leaves_looks_again() {
    let text = world(
        "honours_cancellation: true,",
        &format!("keys: 1, coalesce: true, {MISS}"),
        "",
    )
    .replace("p: {}", "p: { deadline: 4s }");
    // The first leaves at 4 s, and its fetch with it; the second goes for it itself and leaves at 6 s; so does the third, at 8 s.
    let outcome = run(&text, "0\n2\n4\n20");
    let counted = count(&outcome);
    assert_eq!(
        (counted.fetches, counted.stopped, counted.stored),
        (4, 4, 0)
    );
    assert_eq!((counted.waits, counted.released), (2, 2));
    assert_eq!(counted.lookups, 6);
}

#[test]
fn a_fetch_may_be_a_look_up_in_another_cache() {
    let inner = |call: &str| {
        format!(
            "miss: {{ cache: {{ keys: 1, scope: service, coalesce: true, miss: {{ call: {{ {call} }} }} }} }}"
        )
    };
    let text = world(
        "replicas: 2,",
        &format!("keys: 1, {}", inner("to: api")),
        "",
    );
    let outcome = run(&text, "0\n10\n20\n30");
    assert_eq!(calls(&outcome), [6.0, 1.0, 1.0, 1.0]);
    let [near, far] = outcome.drained.caches.as_slice() else {
        panic!("two caches")
    };
    assert_eq!((near.hits, near.stored, far.hits, far.stored), (2, 2, 1, 1));
    let text = world(
        "replicas: 2,",
        &format!("keys: 1, {}", inner("to: api, policy: hasty")),
        "",
    );
    let outcome = run(&text, "0\n0.5");
    let [near, far] = outcome.drained.caches.as_slice() else {
        panic!("two caches")
    };
    assert_eq!((near.failed, far.failed, far.waits), (2, 1, 1));
    assert_eq!(outcome.drained.edges[0].ok, 0);
}

#[test]
fn branches_side_by_side_look_up_each_for_itself() {
    let cache = |policy: &str| {
        format!(
            "{{ cache: {{ keys: 1, coalesce: true, miss: {{ parallel: [ {{ call: {{ to: api, policy: {policy} }} }}, {{ work: 3s }} ] }} }} }}"
        )
    };
    let text = |policy: &str| {
        world("", "", "").replace(
            "{ cache: {  } }",
            &format!("{{ parallel: [ {0}, {0} ] }}", cache(policy)),
        )
    };
    let outcome = run(&text("p"), "0\n0");
    assert_eq!(calls(&outcome), [6.0, 6.0]);
    let steps = outcome.drained.caches.iter();
    assert_eq!(
        steps.map(|c| (c.fetches, c.waits)).collect::<Vec<_>>(),
        [(1, 1), (1, 1)]
    );
    let outcome = run(&text("hasty"), "0\n0");
    assert_eq!(calls(&outcome), [3.0, 3.0]);
    for step in &outcome.drained.caches {
        assert_eq!(
            (step.stored, step.failed + step.stopped, step.released),
            (0, step.fetches, step.waits)
        );
    }
}

#[test]
fn what_is_asked_for_moves_no_other_draw() {
    let random = |text: String| {
        let text = text.replace("work: 1s", "work: { exponential: 1s }");
        calls(&run(&text, &every(3.0, 100)))
    };
    let without = world("", "", "").replace(", { cache: {  } }", "");
    let with = world("", &format!("keys: 50, skew: 1, filled: true, {MISS}"), "");
    assert_eq!(random(without), random(with));
}

#[test]
fn what_makes_no_sense_is_refused() {
    for (cache, more, problem) in [
        (format!("keys: 2000000, {MISS}"), "", "at most 1000000"),
        ("keys: 5".to_owned(), "", "miss: missing"),
        (format!("keys: 5, ttl: 0s, {MISS}"), "", "above 0s"),
        (format!("keys: 5, ttl_jitter: 5%, {MISS}"), "", "goes with a `ttl`"),
        (format!("keys: 5, on_failure: stale, {MISS}"), "", "nothing is ever too old"),
        (
            "keys: 5, ttl: 1s, on_failure: stale, miss: { repeat: { times: 2, do: { parallel: [ { call: api }, { work: 1s } ] } } }".to_owned(),
            "",
            "goes with no `parallel`",
        ),
        (format!("keys: 5, scope: everywhere, {MISS}"), "", "scope"),
        (
            format!("keys: 5, {MISS}"),
            "faults: [ { at: 1s, empty_cache: api } ]",
            "`api` has no `cache` step",
        ),
        (
            format!("keys: 5, {MISS}"),
            "faults: [ { at: 1s, for: 2s, empty_cache: front } ]",
            "takes no time",
        ),
        (
            format!("keys: 5, scope: service, {MISS}"),
            "faults: [ { at: 1s, empty_cache: { service: front, replicas: 1 } } ]",
            "share one cache",
        ),
        (
            format!("keys: 5, {MISS}"),
            "expect: [ hit_ratio(api) >= 1% ]",
            "`api` has no `cache` step",
        ),
        (
            "keys: 5, miss: { call: front }".to_owned(),
            "",
            "go in a circle",
        ),
    ] {
        let said = wrong(&world("", &cache, more));
        assert!(said.contains(problem), "{cache} {more}: {said}");
    }
    let many = wrong(&world(
        "replicas: 100,",
        &format!("keys: 1000000, {MISS}"),
        "",
    ));
    assert!(many.contains("more than 10000000 entries"), "{many}");
    let client = "version: 1
run: { duration: 10s }
clients: { web: { arrivals: { poisson: 1/s }, program: [ { cache: { keys: 5, miss: { call: api } } } ] } }
services: { api: { work: 1ms } }";
    assert!(
        wrong(client).contains("only services have one"),
        "{}",
        wrong(client)
    );
}
