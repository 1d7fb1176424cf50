//! Verdicts on outcomes made up for the purpose.

use seawall::{Span, Time};
use sim::Scenario;
use sim::metrics::{Counts, EdgeCount, EdgeGauge, Ended, Outcome, ServiceGauge, Window};
use sim::verdict::{Verdict, judge};

use crate::yaml;

/// A run of `seconds` windows of one second each, with so many calls begun and answered well in each; every
/// other call fails.
pub(crate) fn run(scenario: &Scenario, calls: impl Fn(u64) -> (u64, u64)) -> Outcome {
    let seconds = scenario.run.duration.0 / 1_000_000_000;
    let counts = |begun: u64, good: u64| {
        let mut edges = vec![EdgeCount::default(); scenario.edges.len()];
        edges[0] = EdgeCount {
            calls: begun,
            ok: good,
            attempts: begun,
            ..EdgeCount::default()
        };
        edges[0].stopped[2] = begun.saturating_sub(good);
        Counts {
            clients: vec![Default::default(); scenario.clients.len()],
            services: vec![Default::default(); scenario.services.len()],
            edges,
            ..Counts::default()
        }
    };
    let at = |second: u64| Time::ZERO.after(Span::secs(second));
    let window = |second: u64| {
        let (begun, good) = calls(second);
        Window {
            start: at(second),
            end: at(second + 1),
            counts: counts(begun, good),
            latency: vec![None; scenario.edges.len()],
            edges: vec![EdgeGauge::default(); scenario.edges.len()],
            services: vec![ServiceGauge::default(); scenario.services.len()],
        }
    };
    let all = (0..seconds)
        .map(&calls)
        .fold((0, 0), |a, b| (a.0 + b.0, a.1 + b.1));
    Outcome {
        seed: 1,
        ended: Ended::Completed,
        measured_from: Time::ZERO,
        measured_to: at(seconds),
        totals: counts(all.0, all.1),
        drained: counts(all.0, all.1),
        windows: (0..seconds).map(window).collect(),
        latency: Vec::new(),
        sojourn: Vec::new(),
        open: vec![0; scenario.edges.len()],
        events: 0,
        trajectory: 0,
        calls_in_flight_max: 0,
        log: Default::default(),
        ledger: None,
    }
}

/// Ten minutes, warm after 30 s, with `faults` and a client that `starts` so.
fn world(starts: &str, faults: &str) -> Scenario {
    yaml(&format!(
        "
version: 1
run: {{ duration: 600s, warmup: 30s }}
clients: {{ web: {{ {starts} }} }}
services: {{ api: {{ work: 1ms }} }}
faults: {faults}
"
    ))
}

const OPEN: &str = "arrivals: { poisson: 1000/s }, calls: [ api ]";
const LOOP: &str = "loop: [ { call: api } ]";
const FAULT: &str = "[ { at: 120s, for: 10s, outage: api } ]";

fn verdict(starts: &str, faults: &str, calls: impl Fn(u64) -> (u64, u64)) -> Verdict {
    let scenario = world(starts, faults);
    judge(&scenario, &run(&scenario, calls)).verdict
}

#[test]
fn all_calls_answered_is_healthy_with_or_without_a_trigger() {
    for faults in ["[]", FAULT, "[ { at: 120s, outage: api } ]"] {
        assert_eq!(
            verdict(OPEN, faults, |_| (1000, 1000)),
            Verdict::Healthy,
            "{faults}"
        );
        assert_eq!(
            verdict(OPEN, faults, |_| (1000, 960)),
            Verdict::Healthy,
            "{faults}"
        );
    }
}

#[test]
fn too_few_answers_without_a_trigger_is_degraded() {
    assert_eq!(verdict(OPEN, "[]", |_| (1000, 940)), Verdict::Degraded);
    assert_eq!(
        verdict(OPEN, "[]", |s| (1000, if s < 540 { 1000 } else { 0 })),
        Verdict::Degraded
    );
}

#[test]
fn recovery_counts_from_the_end_of_the_trigger_to_the_last_bad_window() {
    let down_until = |end: u64| move |s| (1000, if (120..end).contains(&s) { 300 } else { 1000 });
    let after = |seconds| Verdict::Recovered {
        after: Span::secs(seconds),
    };
    assert_eq!(verdict(OPEN, FAULT, down_until(125)), after(0));
    assert_eq!(verdict(OPEN, FAULT, down_until(130)), after(0));
    assert_eq!(verdict(OPEN, FAULT, down_until(131)), after(1));
    assert_eq!(verdict(OPEN, FAULT, down_until(400)), after(270));
}

#[test]
fn a_world_that_swings_has_not_recovered_wherever_its_run_ends() {
    let swings = |shift: u64| {
        move |s| {
            let high = s < 120 || (s + shift) % 14 < 7;
            (1000, if high { 1000 } else { 0 })
        }
    };
    for shift in 0..14 {
        let found = verdict(OPEN, FAULT, swings(shift));
        assert_eq!(found, Verdict::Metastable, "shifted by {shift} s");
    }
}

#[test]
fn a_fleet_in_step_is_well_when_its_waves_carry_enough() {
    // Down for a minute, then as many calls in a second of each minute as before in all of it.
    let waves = |carry: u64, shift: u64| {
        move |s| match s {
            0..120 => (50, 50),
            120..180 => (50, 0),
            _ if (s + shift).is_multiple_of(20) => (1000, carry),
            _ => (0, 0),
        }
    };
    for shift in 0..20 {
        let well = verdict(LOOP, FAULT, waves(1000, shift));
        assert!(
            matches!(well, Verdict::Recovered { after } if after >= Span::secs(30) && after <= Span::secs(70)),
            "{well} shifted by {shift} s"
        );
        assert_eq!(verdict(LOOP, FAULT, waves(850, shift)), Verdict::Metastable);
    }
}

#[test]
fn a_relapse_counts_as_not_yet_recovered() {
    let calls = |s| {
        (
            1000,
            if (120..140).contains(&s) || (300..350).contains(&s) {
                0
            } else {
                1000
            },
        )
    };
    assert_eq!(
        verdict(OPEN, FAULT, calls),
        Verdict::Recovered {
            after: Span::secs(220)
        }
    );
}

#[test]
fn down_to_the_end_is_metastable_if_there_was_time_to_come_back() {
    let down = |s| (1000, if s < 120 { 1000 } else { 300 });
    assert_eq!(verdict(OPEN, FAULT, down), Verdict::Metastable);
    let late = |s| (1000, if s < 580 { 1000 } else { 300 });
    let trigger = |length| format!("[ {{ at: 580s, for: {length}s, outage: api }} ]");
    assert_eq!(verdict(OPEN, &trigger(10), late), Verdict::Metastable);
    assert_eq!(verdict(OPEN, &trigger(11), late), Verdict::Degraded);
    assert_eq!(verdict(OPEN, &trigger(30), late), Verdict::Degraded);
}

#[test]
fn a_trigger_that_never_ends_leaves_a_world_degraded_at_worst() {
    let down = |s| (1000, if s < 120 { 1000 } else { 300 });
    assert_eq!(
        verdict(OPEN, "[ { at: 120s, outage: api } ]", down),
        Verdict::Degraded
    );
}

#[test]
fn a_world_that_was_ill_before_is_degraded_even_if_it_comes_back_to_that() {
    let ill = |s| (1000, if (120..140).contains(&s) { 100 } else { 800 });
    assert_eq!(verdict(OPEN, FAULT, ill), Verdict::Degraded);
    let falls = |s| (1000, if s < 120 { 800 } else { 100 });
    assert_eq!(verdict(OPEN, FAULT, falls), Verdict::Metastable);
}

#[test]
fn less_load_is_no_illness_but_a_client_that_loops_offers_less_because_it_waits() {
    let quiet = |s| if s < 120 { (1000, 1000) } else { (200, 200) };
    assert_eq!(verdict(OPEN, FAULT, quiet), Verdict::Healthy);
    assert_eq!(verdict(LOOP, FAULT, quiet), Verdict::Metastable);
}

#[test]
fn what_happens_during_the_warm_up_does_not_count() {
    assert_eq!(
        verdict(OPEN, FAULT, |s| (1000, if s < 30 { 0 } else { 1000 })),
        Verdict::Healthy
    );
}

#[test]
fn several_faults_are_one_trigger_and_a_kill_switch_is_none() {
    let calls = |s| (1000, if (120..200).contains(&s) { 0 } else { 1000 });
    let two = "[ { at: 120s, for: 10s, outage: api }, { at: 150s, for: 30s, slow: { service: api, factor: 2 } }, { at: 160s, kill_switch: none } ]";
    assert_eq!(
        verdict(OPEN, two, calls),
        Verdict::Recovered {
            after: Span::secs(20)
        }
    );
}

#[test]
fn a_scenario_may_say_itself_when_it_is_disturbed() {
    let scenario = yaml(
        "
version: 1
run: { duration: 600s, warmup: 30s, trigger: { at: 100s, for: 50s } }
clients: { web: { arrivals: { poisson: 1000/s }, calls: [ api ] } }
services: { api: { work: 1ms } }
",
    );
    let calls = |s| (1000, if (100..160).contains(&s) { 0 } else { 1000 });
    let judgement = judge(&scenario, &run(&scenario, calls));
    assert_eq!(
        judgement.verdict,
        Verdict::Recovered {
            after: Span::secs(10)
        }
    );
    assert_eq!(judgement.baseline, Some(1000.0));
}

/// Poisson counts by inversion of the distribution function, good for small means.
fn poisson(mean: f64, state: &mut u64) -> u64 {
    *state = state
        .wrapping_mul(6_364_136_223_846_793_005)
        .wrapping_add(1_442_695_040_888_963_407);
    let unit = (*state >> 11) as f64 / (1u64 << 53) as f64;
    let (mut n, mut p) = (0, libm::exp(-mean));
    let mut sum = p;
    while unit > sum && n < 1000 {
        n += 1;
        p *= mean / n as f64;
        sum += p;
    }
    n
}

/// Windows with few calls are noisy; chance alone must not make a healthy world look disturbed. With 64
/// worlds and about 570 blocks each, blocks at four standard deviations (3e-5) would be bad in about one
/// world if blocks were independent and each binomial; at least 60 of 64 must be healthy.
#[test]
fn noise_is_not_a_disturbance() {
    for (mean, fail) in [(20.0, 0.0), (20.0, 0.04), (3.0, 0.02), (200.0, 0.03)] {
        let mut healthy = 0;
        for seed in 0..64u64 {
            let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) + 1;
            let series: Vec<(u64, u64)> = (0..600)
                .map(|_| {
                    let good = poisson(mean * (1.0 - fail), &mut state);
                    (good + poisson(mean * fail, &mut state), good)
                })
                .collect();
            let verdict = verdict(OPEN, FAULT, |s| series[s as usize]);
            healthy += usize::from(verdict == Verdict::Healthy);
        }
        assert!(
            healthy >= 60,
            "{mean} calls a window, {fail} fail: {healthy} of 64 healthy"
        );
    }
}

/// And a real collapse is still seen through the noise, to within a block.
#[test]
fn a_disturbance_is_seen_through_noise() {
    let mut state = 7;
    let series: Vec<(u64, u64)> = (0..600)
        .map(|s| {
            let good = if (120..200).contains(&s) { 0.3 } else { 0.98 };
            let answered = poisson(20.0 * good, &mut state);
            (
                answered + poisson(20.0 * (1.0 - good), &mut state),
                answered,
            )
        })
        .collect();
    let scenario = world(OPEN, FAULT);
    let judgement = judge(&scenario, &run(&scenario, |s| series[s as usize]));
    let Verdict::Recovered { after } = judgement.verdict else {
        panic!("{judgement:?}")
    };
    let block = judgement.block as f64;
    assert!((after.as_secs_f64() - 70.0).abs() <= block, "{judgement:?}");
}

/// A fault that does nothing, in a world whose calls take long against a window: calls in flight at a window's edge
/// must not look like calls lost.
#[test]
fn a_trigger_that_does_nothing_leaves_no_mark() {
    for (rate, work) in [("100/s", "50ms"), ("150/s", "50ms"), ("40/s", "2s")] {
        let scenario = yaml(&format!(
            "
version: 1
run: {{ duration: 120s, warmup: 10s }}
clients: {{ web: {{ arrivals: {{ poisson: {rate} }}, calls: [ api ] }} }}
services: {{ api: {{ work: {work} }} }}
faults: [ {{ at: 40s, for: 10s, slow: {{ service: api, factor: 1 }} }} ]
"
        ));
        let scenario = std::sync::Arc::new(scenario);
        for seed in 1..=40 {
            let outcome = sim::run(&scenario, seed);
            let found = judge(&scenario, &outcome).verdict;
            assert_eq!(
                found,
                Verdict::Healthy,
                "{rate} calls of {work}, seed {seed}"
            );
        }
    }
}

#[test]
fn a_run_that_ends_soon_after_the_trigger_says_that_it_was_too_short() {
    let down = |s| (1000, if s < 120 { 1000 } else { 300 });
    let late = |s| (1000, if s < 580 { 1000 } else { 300 });
    let too_short = |faults: &str, calls: &dyn Fn(u64) -> (u64, u64)| {
        let scenario = world(OPEN, faults);
        judge(&scenario, &run(&scenario, calls)).too_short
    };
    assert!(too_short("[ { at: 580s, for: 11s, outage: api } ]", &late));
    assert!(!too_short(FAULT, &down), "metastable");
    assert!(
        !too_short("[ { at: 120s, outage: api } ]", &down),
        "it lasts"
    );
}

/// A block that holds the outage and what came after it says nothing about the end.
#[test]
fn metastable_takes_two_blocks_after_the_trigger() {
    // Forty calls a second and one in a hundred failing: 164 calls to a block, five windows.
    let calls = |end: u64| {
        move |s: u64| match s {
            _ if s < end => (40, if s.is_multiple_of(5) { 38 } else { 40 }),
            _ => (40, 0),
        }
    };
    let trigger = |at: u64| format!("[ {{ at: {at}s, for: 1s, outage: api }} ]");
    assert_eq!(
        verdict(OPEN, &trigger(589), calls(589)),
        Verdict::Metastable
    );
    assert_eq!(verdict(OPEN, &trigger(590), calls(590)), Verdict::Degraded);
}

/// What is left of a window when a run is cut short is nearly nothing, and nearly nothing is not bad.
#[test]
fn a_window_that_was_cut_off_is_not_judged() {
    let scenario = world(OPEN, FAULT);
    let mut cut = run(&scenario, |s| (1000, if s < 120 { 1000 } else { 0 }));
    cut.ended = Ended::Interrupted;
    let last = cut.windows.last_mut().expect("windows");
    last.end = last.start;
    last.counts.edges[0] = EdgeCount::default();
    let judgement = judge(&scenario, &cut);
    assert_eq!(judgement.verdict, Verdict::Metastable);
}

#[test]
fn one_window_over_all_is_judged_by_all_calls() {
    let scenario = yaml(
        "
version: 1
run: { duration: 600s, window: 600s }
clients: { web: { arrivals: { poisson: 1000/s }, calls: [ api ] } }
services: { api: { work: 1ms } }
faults: [ { at: 120s, for: 10s, outage: api } ]
",
    );
    let mut one = run(&scenario, |_| (1000, 200));
    one.windows.truncate(1);
    one.windows[0].end = Time::ZERO.after(Span::secs(600));
    assert_eq!(judge(&scenario, &one).verdict, Verdict::Degraded);
}

/// Nobody knows what would have come.
#[test]
fn what_was_cut_short_is_neither_healthy_nor_recovered() {
    let scenario = world(OPEN, FAULT);
    for (good, whole) in [
        (
            &(|_: u64| (1000u64, 1000u64)) as &dyn Fn(u64) -> (u64, u64),
            "healthy",
        ),
        (
            &|second: u64| {
                (
                    1000,
                    if (120..140).contains(&second) {
                        0
                    } else {
                        1000
                    },
                )
            },
            "recovered",
        ),
        (
            &|second: u64| (1000, if second >= 120 { 0 } else { 1000 }),
            "metastable",
        ),
    ] {
        let mut outcome = run(&scenario, good);
        assert_eq!(judge(&scenario, &outcome).verdict.name(), whole);
        for ended in Ended::ALL
            .into_iter()
            .filter(|ended| *ended != Ended::Completed)
        {
            outcome.ended = ended;
            let cut = judge(&scenario, &outcome).verdict;
            let expected = if whole == "metastable" {
                whole
            } else {
                "degraded"
            };
            assert_eq!(cut.name(), expected, "{ended:?}");
        }
    }
}
