//! Promises: how they are read, and what they are judged by.

use hdrhistogram::Histogram;
use seawall::{FailureKind, Span, Stopped, Time};
use sim::Scenario;
use sim::expect::{Comparison, Kind, Metric, Of, Target, Unit, evaluate};
use sim::metrics::{
    AnswerCount, CacheCount, ClientCount, CoalesceCount, CredentialCount, EdgeGauge, EdgeLatency,
    EffectCount, KeyCount, Leg, MessageCount, Outcome, PassageCount, PoolCount, ServiceCount,
    SessionCount, WindowLatency,
};
use sim::scenario::model::Caller;

use crate::verdict::run;
use crate::{wrong, yaml};

/// A client calls `api`, which calls `db`; these are the promises.
fn text(promises: &[&str]) -> String {
    let promises: String = promises.iter().map(|p| format!("  - '{p}'\n")).collect();
    format!(
        "version: 1
run: {{ duration: 100s, warmup: 0s }}
clients:
  web: {{ arrivals: {{ poisson: 10/s }}, calls: [ {{ to: api, fallback: {{ instead: generic }} }} ] }}
  phones: {{ loop: [ {{ session: {{ call: hub }} }} ] }}
services:
  api: {{ replicas: 2, concurrency: 5, program: [ {{ work: 1ms }}, {{ call: {{ to: db, key: per_call }} }}, {{ call: {{ to: db, coalesce: 5 }} }}, {{ cache: {{ keys: 9, miss: {{ work: 1ms }} }} }} ] }}
  db: {{ idempotency: {{}}, program: [ {{ work: 1ms }}, {{ effect: row }}, {{ effect: log }} ] }}
  mail: {{ messages: 5s, work: 1ms }}
  hub: {{ work: 1ms }}
links: {{ web -> api: {{ phases: {{}}, pool: 5, credential: token }} }}
credentials: {{ token: {{ from: db, lifetime: 1h }} }}
faults: [ {{ at: 50s, for: 10s, outage: api }} ]
expect:
{promises}"
    )
}

fn world(promises: &[&str]) -> Scenario {
    yaml(&text(promises))
}

#[test]
fn a_promise_says_metric_target_comparison_value_and_windows() {
    let scenario = world(&[
        "amplification(api) <= 1.2",
        "success_rate(web) >= 99% from 60s to 90s",
        "stopped(web -> api, budget_empty) == 0",
        "p99(api->db)<250ms",
        "verdict == recovered",
        "goodput > 95/s from 10s",
        "failures(web, timeout) != 3",
    ]);
    let [
        amplification,
        success,
        stopped,
        p99,
        verdict,
        goodput,
        failures,
    ] = scenario.expect.as_slice()
    else {
        panic!()
    };
    assert_eq!(amplification.measure.metric, Metric::Amplification);
    assert_eq!(
        (amplification.measure.target, amplification.value),
        (Target::Service(0), 1.2)
    );
    assert_eq!(amplification.comparison, Comparison::AtMost);
    assert_eq!(
        (success.measure.target, success.value),
        (Target::Client(0), 0.99)
    );
    let seconds = |s| Some(Time::ZERO.after(Span::secs(s)));
    assert_eq!(
        (success.measure.from, success.measure.to),
        (seconds(60), seconds(90))
    );
    assert_eq!(stopped.measure.target, Target::Edge(Caller::Client(0), 0));
    assert_eq!(
        stopped.measure.kind,
        Some(Kind::Stopped(Stopped::BudgetEmpty.index()))
    );
    assert_eq!(p99.measure.target, Target::Edge(Caller::Service(0), 1));
    assert_eq!((p99.comparison, p99.value), (Comparison::Below, 0.25));
    assert_eq!((verdict.measure.target, verdict.value), (Target::Run, 2.0));
    assert_eq!(
        (
            goodput.measure.target,
            goodput.measure.from,
            goodput.measure.to
        ),
        (Target::Run, seconds(10), None)
    );
    assert_eq!(
        failures.measure.kind,
        Some(Kind::Failed(FailureKind::Timeout))
    );
    assert_eq!(failures.text, "failures(web, timeout) != 3");
}

#[test]
fn what_cannot_be_promised_is_refused_with_the_mend() {
    for (promise, message) in [
        (
            "amplification(api)",
            "no comparison: write metric(target) <= value",
        ),
        (
            "amplification(api) =< 2",
            "`=<` is no comparison: write <=, >=, <, >, == or !=",
        ),
        (
            "amplifcation(api) <= 1",
            "no metric is called `amplifcation`: did you mean `amplification`?",
        ),
        (
            "amplification(apo) <= 1",
            "no service is called `apo`: did you mean `api`?",
        ),
        ("amplification(web) <= 1", "no service is called `web`"),
        ("amplification <= 1", "say of what: amplification(name)"),
        (
            "amplification(web->api) <= 1",
            "is of a service, not of an edge",
        ),
        ("success_rate(api) <= 1", "no client is called `api`"),
        (
            "calls(wob -> api) > 1",
            "no caller is called `wob`: did you mean `web`?",
        ),
        (
            "calls(web -> apu) > 1",
            "no service is called `apu`: did you mean `api`?",
        ),
        (
            "verdict(web) == healthy",
            "is of the whole run; leave out (web)",
        ),
        (
            "verdict == fine",
            "expected `healthy`, `degraded`, `recovered` or `metastable`, got `fine`",
        ),
        (
            "recovery_time <= 30",
            "\"30\" has no unit: write \"30ms\" or \"30s\"",
        ),
        ("recovery_time <= 30s from 1s", "is of the whole run"),
        ("goodput(web) >= 95", "write \"95/s\""),
        (
            "attempts(db) == 64.5",
            "expected a whole number such as 64, got `64.5`",
        ),
        ("stopped(web, budget) == 0", "no kind is called `budget`"),
        ("calls(web, timeout) == 0", "has no kinds"),
        ("calls(web, a, b) == 0", "one name too many"),
        ("p99(web <= 1ms", "is not closed"),
        ("calls(web) >= ", "a value is missing"),
        (
            "calls(web) >= 1 from 99.5s",
            "no whole window (1s) lies between 99.5s and 100s",
        ),
        ("calls(web) >= 1 from 20s to 10s", "no whole window"),
        ("p90(web) < 1s from 1s", "not measured window by window"),
        (
            "p99(api) < 1s to 5s",
            "not measured window by window; leave out",
        ),
    ] {
        let problem = wrong(&text(&[promise]));
        assert!(
            problem.starts_with("world.yaml:15:5: expect: "),
            "{problem}"
        );
        assert!(
            problem.contains(message),
            "{problem}\ndoes not say\n{message}"
        );
    }
}

/// 100 calls a second, of which 90 go well and 10 fail on their third attempt by timeout; in seconds 50 to 59
/// all fail.
fn outcome(scenario: &Scenario) -> Outcome {
    let mut outcome = run(scenario, |s| {
        (100, if (50..60).contains(&s) { 0 } else { 90 })
    });
    let histogram = |values: &[u64]| {
        let mut histogram = Histogram::new(3).unwrap();
        values
            .iter()
            .for_each(|&value| histogram.record(value).unwrap());
        histogram
    };
    let latency = || EdgeLatency {
        calls: histogram(&[1_000_000, 2_000_000, 3_000_000, 100_000_000]),
        ok: histogram(&[]),
        attempts: histogram(&[]),
        attempts_per_call: Vec::new(),
    };
    outcome.latency = vec![latency(), latency()];
    outcome.sojourn = vec![histogram(&[5_000_000]), histogram(&[])];
    outcome.open[0] = 7;
    let service = ServiceCount {
        arrived: 130,
        arrived_first: 100,
        shed_full: 4,
        shed_expired: 1,
        rate_limited: 6,
        unreachable: 7,
        restarts: 8,
        probes_failed: 9,
        lost: 5,
        replicas_ns: 1_500_000_000,
        served: 90,
        cancelled: 3,
        late: 2,
        busy_ns: 500_000_000,
        wasted_ns: 30_000_000,
        useful_ns: 450_000_000,
        useless_ns: 50_000_000,
        workers_ns: 10_000_000_000,
        queue_ns: 2_500_000_000,
        ..ServiceCount::default()
    };
    let row = EffectCount {
        committed: 10,
        duplicates: 2,
        lost: 3,
        unknown: 4,
        hidden: 5,
        half_done: 6,
        skipped: 9,
    };
    let log = EffectCount {
        committed: 7,
        ..EffectCount::default()
    };
    let keys = KeyCount {
        replayed: 1,
        conflicts: 2,
        in_progress: 3,
        ..KeyCount::default()
    };
    let answers = AnswerCount {
        live: 4,
        snapshot: 2,
        too_old: 3,
        age_ns: 60_000_000_000,
        ..AnswerCount::default()
    };
    let mut legs = PassageCount {
        begun: 10,
        ended: 10,
        total_ns: 400_000_000,
        ..PassageCount::default()
    };
    let (pool, connect) = (Leg::Pool as usize, Leg::Connect as usize);
    (legs.entered[connect], legs.leg_ns[connect]) = (2, 10_000_000);
    (legs.failed[pool], legs.failed[connect]) = (2, 5);
    let pool = PoolCount {
        opened: 1,
        reused: 2,
        failed: 3,
        waited: 4,
        timed_out: 5,
        resets: 6,
        open_ns: 2_500_000_000,
        time_ns: 1_000_000_000,
        ..PoolCount::default()
    };
    for window in &mut outcome.windows {
        window.counts.passages = vec![legs.clone()];
        window.counts.pools = vec![pool.clone()];
        window.counts.shared = vec![CoalesceCount {
            wanted: 9,
            made: 2,
            shared: 7,
        }];
        window.counts.caches = vec![CacheCount {
            lookups: 8,
            hits: 2,
            misses: 6,
            fetches: 5,
            waits: 1,
            ..CacheCount::default()
        }];
        window.counts.sessions = vec![SessionCount {
            begun: 3,
            ended: 1,
            broken: 2,
            open_ns: 7_500_000_000,
            time_ns: 1_000_000_000,
        }];
        window.counts.messages = vec![MessageCount {
            sent: 4,
            received: 10,
            redelivered: 6,
            duplicated: 5,
            completed: 1,
            late: 3,
            dead: 2,
            expired: 1,
            hidden_ns: 1_500_000_000,
            time_ns: 1_000_000_000,
            ..MessageCount::default()
        }];
        window.counts.credentials = vec![CredentialCount {
            asked: 3,
            refused: 1,
            waited: 4,
            rejected: 2,
            ..CredentialCount::default()
        }];
        window.counts.answers = vec![answers.clone()];
        window.counts.services[0] = service.clone();
        window.counts.clients[0] = ClientCount {
            iterations_ok: 30,
            iterations_failed: 10,
            ..ClientCount::default()
        };
        window.latency[0] = Some(WindowLatency {
            p50: 1_000_000,
            p99: 9_000_000,
            max: 20_000_000,
        });
        window.edges[0] = EdgeGauge {
            breakers: 4,
            breakers_open: 1,
            ..EdgeGauge::default()
        };
        window.counts.effects = vec![row.clone(), log.clone()];
        window.counts.keys = vec![keys.clone()];
        window.services[0].queue_max = window.start.0 / 1_000_000_000;
        for edge in &mut window.counts.edges {
            edge.retries = edge.failed_calls() * 2;
            edge.attempts = edge.calls + edge.retries;
            edge.hedges = edge.retries / 2;
            (edge.refusals_retried, edge.openings, edge.beyond_cap) = (3, 1, 2);
            edge.failed[FailureKind::Timeout as usize] = edge.failed_calls();
            edge.latency_ns = u128::from(edge.calls) * 4_000_000;
        }
    }
    for totals in [&mut outcome.totals, &mut outcome.drained] {
        totals.edges.fill_with(Default::default);
        totals.effects = vec![EffectCount::default(); 2];
        totals.keys = vec![KeyCount::default()];
        totals.answers = vec![AnswerCount::default()];
        totals.passages = vec![PassageCount::default()];
        totals.pools = vec![PoolCount::default()];
        totals.credentials = vec![CredentialCount::default()];
        totals.shared = vec![CoalesceCount::default()];
        totals.caches = vec![CacheCount::default()];
        totals.messages = vec![MessageCount::default()];
        totals.sessions = vec![SessionCount::default()];
        for window in &outcome.windows {
            totals.clients[0].add(&window.counts.clients[0]);
            totals.edges[0].add(&window.counts.edges[0]);
            totals.services[0].add(&window.counts.services[0]);
            totals.effects[0].add(&window.counts.effects[0]);
            totals.effects[1].add(&window.counts.effects[1]);
            totals.keys[0].add(&window.counts.keys[0]);
            totals.answers[0].add(&window.counts.answers[0]);
            totals.passages[0].add(&window.counts.passages[0]);
            totals.pools[0].add(&window.counts.pools[0]);
            totals.credentials[0].add(&window.counts.credentials[0]);
            totals.shared[0].add(&window.counts.shared[0]);
            totals.caches[0].add(&window.counts.caches[0]);
            totals.messages[0].add(&window.counts.messages[0]);
            totals.sessions[0].add(&window.counts.sessions[0]);
        }
    }
    // What was still under way at the end ends well in the drain.
    outcome.drained.edges[0].ok += 5;
    outcome
}

#[test]
fn every_metric_is_judged_by_what_was_counted() {
    let cases = [
        ("verdict == degraded", "degraded", true),
        ("recovery_time <= 30s", "never", false),
        ("calls(web) == 10000", "10000", true),
        ("calls == 10000", "10000", true),
        ("calls(web -> api) < 10000", "10000", false),
        ("calls(web) == 1000 from 10s to 20s", "1000", true),
        ("success_rate(web) >= 81%", "81.01%", true),
        ("success_rate(web) >= 90% to 50s", "90%", true),
        ("success_rate(web) > 0% from 50s to 60s", "0%", false),
        ("goodput(web) == 81/s", "81/s", true),
        ("goodput(web) == 90/s from 0.5s to 50s", "90/s", true),
        ("load(web) == 100/s", "100/s", true),
        ("stopped(web) == 1900", "1900", true),
        ("stopped(web, attempts_used) == 1900", "1900", true),
        ("stopped(web, budget_empty) == 0", "0", true),
        ("failures(web) == 1900", "1900", true),
        ("failures(web, timeout) == 100 from 10s to 20s", "100", true),
        ("failures(web, unavailable) > 0", "0", false),
        ("open(web) == 7", "7", true),
        ("iterations(web) == 4000", "4000", true),
        ("iterations == 400 from 10s to 20s", "400", true),
        ("iteration_success(web) == 75%", "75%", true),
        ("attempts(web) == 13800", "13800", true),
        ("attempts(api) == 13000", "13000", true),
        ("retries(web) == 3800", "3800", true),
        ("retries(api) == 3000", "3000", true),
        ("hedges(web) == 1900", "1900", true),
        ("refusals_retried(web) == 300", "300", true),
        ("breaker_openings(web) == 100", "100", true),
        ("beyond_cap(web) == 200", "200", true),
        ("attempts_per_call(web) <= 1.38", "1.38", true),
        ("mean(web) == 4ms from 1s", "4ms", true),
        ("p50(web) < 3ms", "2.001ms", true),
        ("p90(web) > 99ms", "100ms", true),
        ("p99(web) > 99ms", "100ms", true),
        ("p99.9(web) > 99ms", "100ms", true),
        ("max(web) < 1ms", "100ms", false),
        ("p50(web) == 1ms from 1s to 9s", "1ms", true),
        ("p99(web) == 9ms from 1s to 9s", "9ms", true),
        ("max(web) == 20ms from 1s to 9s", "20ms", true),
        ("p50(api) > 4ms", "5.001ms", true),
        ("mean(api) > 4ms", "4.999ms", true),
        ("p50(db) > 0s", "no data", false),
        ("breaker_open(web) == 25%", "25%", true),
        ("breaker_open(api -> db) == 0%", "no data", false),
        ("amplification(api) == 1.3", "1.3", true),
        ("amplification(api) == 1.3x from 1s", "1.3", true),
        ("utilisation(api) == 5%", "5%", true),
        ("utilisation(db) < 100%", "no data", false),
        ("wasted(api) <= 10%", "10%", true),
        ("wasted(db) <= 10%", "no data", false),
        ("served(api) == 9000", "9000", true),
        ("shed(api) == 500", "500", true),
        ("rate_limited(api) == 600", "600", true),
        ("unreachable(api) == 700", "700", true),
        ("restarts(api) == 800", "800", true),
        ("probes_failed(api) == 900", "900", true),
        ("lost(api) == 500", "500", true),
        ("replicas(api) == 1.5", "1.5", true),
        ("late(api) == 200", "200", true),
        ("cancelled(api) == 300", "300", true),
        ("queue_max(api) == 99", "99", true),
        ("queue_max(api) == 41 to 42s", "41", true),
        ("queue_mean(api) == 2.5", "2.5", true),
        ("answers(web) == 600", "600", true),
        ("answers(web, snapshot) == 200", "200", true),
        ("answers(web, too_old) == 300 to 100s", "300", true),
        ("data_age(web) == 30s", "30s", true),
        ("phase_time(web) == 40ms", "40ms", true),
        ("phase_time(web, connect) == 5ms", "5ms", true),
        ("phase_failures(web) == 700", "700", true),
        ("phase_failures(web, pool) == 200", "200", true),
        ("connections_opened(web) == 100", "100", true),
        ("connections_reused(web -> api) == 200", "200", true),
        ("connections_open(web) == 2.5", "2.5", true),
        ("handshakes_failed(web) == 300", "300", true),
        ("pool_waits(web) == 400", "400", true),
        ("pool_timeouts(web) == 500", "500", true),
        ("connection_resets(web) == 600 to 100s", "600", true),
        ("coalesced(api -> db) == 700", "700", true),
        ("hit_ratio(api) == 25%", "25%", true),
        ("fetches(api) == 500", "500", true),
        ("cache_waits(api) == 10 from 10s to 20s", "10", true),
        ("messages_sent(mail) == 400", "400", true),
        ("deliveries(mail) == 1000", "1000", true),
        ("deliveries_per_message(mail) == 2.5", "2.5", true),
        ("redeliveries(mail) == 600", "600", true),
        ("duplicate_executions(mail) == 500", "500", true),
        ("messages_completed(mail) == 10 from 10s to 20s", "10", true),
        ("deliveries_late(mail) == 300", "300", true),
        ("dead_letters(mail) == 200", "200", true),
        ("messages_expired(mail) == 100", "100", true),
        ("messages_hidden(mail) == 1.5", "1.5", true),
        ("sessions_begun(hub) == 300", "300", true),
        ("sessions_broken(hub) == 20 from 10s to 20s", "20", true),
        ("sessions_open(hub) == 7.5", "7.5", true),
        ("refreshes(web) == 300", "300", true),
        ("refreshes_failed(web -> api) == 100", "100", true),
        ("credential_waits == 400", "400", true),
        ("credentials_rejected(web) == 200", "200", true),
        ("effects == 1700", "1700", true),
        ("effects(db) == 1700", "1700", true),
        ("effects(db, row) == 1000", "1000", true),
        ("effects(db, row) == 100 from 10s to 20s", "100", true),
        ("duplicate_effects(db, row) == 200", "200", true),
        ("lost_effects(db) == 300", "300", true),
        ("unknown_effects(db) == 400", "400", true),
        ("hidden_effects(db) == 500", "500", true),
        ("half_done_effects(db) == 600", "600", true),
        ("skipped_effects(db, log) == 0", "0", true),
        ("replayed(db) == 100", "100", true),
        ("key_conflicts(db) == 200", "200", true),
        ("keys_in_progress(db) == 300", "300", true),
    ];
    let promises: Vec<&str> = cases.iter().map(|case| case.0).collect();
    let scenario = world(&promises);
    let outcome = outcome(&scenario);
    for (promise, (text, shown, holds)) in scenario.expect.iter().zip(cases) {
        let checked = evaluate(promise, &scenario, &outcome);
        assert_eq!(
            (checked.shown.as_str(), checked.holds),
            (shown, holds),
            "{text}"
        );
        assert_eq!(
            checked.actual.is_none(),
            shown == "no data" || shown == "never",
            "{text}"
        );
    }
    for metric in Metric::ALL {
        let covered = scenario
            .expect
            .iter()
            .any(|promise| promise.measure.metric == *metric);
        assert!(covered, "{} is in no case", metric.name());
    }
}

#[test]
fn a_recovery_is_shown_with_its_time() {
    let scenario = world(&[
        "verdict == recovered",
        "recovery_time <= 5s",
        "recovery_time > 5s",
    ]);
    let outcome = run(&scenario, |s| {
        (1000, if (50..65).contains(&s) { 0 } else { 1000 })
    });
    let checked: Vec<_> = scenario
        .expect
        .iter()
        .map(|promise| evaluate(promise, &scenario, &outcome))
        .collect();
    assert_eq!(
        (checked[0].shown.as_str(), checked[0].holds),
        ("recovered after 5s", true)
    );
    assert_eq!((checked[1].shown.as_str(), checked[1].holds), ("5s", true));
    assert_eq!((checked[1].actual, checked[2].holds), (Some(5.0), false));
}

#[test]
fn values_are_shown_as_people_write_them() {
    for (unit, value, shown) in [
        (Unit::Count, 64.0, "64"),
        (Unit::Count, 12_345_678.0, "12345678"),
        (Unit::Factor, 1.0, "1"),
        (Unit::Factor, 1.23456, "1.235"),
        (Unit::Factor, 64.0, "64"),
        (Unit::Factor, 1234.6, "1235"),
        (Unit::Share, 0.98765, "98.77%"),
        (Unit::Share, 1.0, "100%"),
        (Unit::Rate, 95.04, "95.04/s"),
        (Unit::Time, 0.25, "250ms"),
        (Unit::Time, 0.000_04, "40us"),
        (Unit::Time, 90.0, "90s"),
        (Unit::Time, 0.0, "0s"),
        (Unit::Verdict, 3.0, "metastable"),
    ] {
        assert_eq!(unit.show(value), shown);
    }
}

#[test]
fn every_metric_is_described() {
    for metric in Metric::ALL {
        assert!(
            metric.doc().ends_with('.') && metric.doc().len() > 10,
            "{}",
            metric.name()
        );
        assert_eq!(
            metric.of() == Of::Run,
            matches!(metric, Metric::Verdict | Metric::RecoveryTime)
        );
    }
}

#[test]
fn a_measure_is_a_promise_without_its_comparison() {
    let scenario = world(&["success_rate(web) >= 99% from 60s to 90s"]);
    let measure = |text| sim::expect::measure(text, &scenario);
    let success = measure("success_rate(web) from 60s to 90s").unwrap();
    assert_eq!(success, scenario.expect[0].measure);
    let wrong = |text| measure(text).unwrap_err();
    assert!(wrong("sucess_rate").contains("did you mean `success_rate`?"));
    assert!(wrong("amplification(dbb)").contains("did you mean `db`?"));
    assert!(wrong("goodput >= 3/s").contains("no metric is called"));
    assert!(wrong("goodput from 20s to 10s").contains("no whole window"));
}
