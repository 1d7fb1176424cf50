//! Arrivals as the kernel asks for them.

use proptest::collection::vec;
use proptest::prelude::*;
use seawall::Span;

use super::*;
use crate::rng::Purpose;

pub(super) fn stream() -> Stream {
    Stream::new(11, Purpose::Arrivals, "web")
}

pub(super) fn secs(n: u64) -> Time {
    Time(n * 1_000_000_000)
}

/// How many of these arrivals fall into `[from, to)`.
pub(super) fn count(times: &[Time], from: Time, to: Time) -> f64 {
    times
        .iter()
        .filter(|time| (from..to).contains(time))
        .count() as f64
}

/// All arrivals before `end`, with the factors put in force at their instants.
pub(super) fn run(arrivals: &Arrivals, end: Time, factors: &[(Time, f64)]) -> Vec<Time> {
    let (mut source, mut stream) = (Source::new(arrivals), stream());
    let mut factors = factors.iter().peekable();
    let mut out = Vec::new();
    let mut pending = source.first(&mut stream);
    loop {
        let due = pending.unwrap_or(Time::MAX);
        if let Some(&&(at, factor)) = factors.peek()
            && at <= due
        {
            factors.next();
            pending = source.set_factor(at, factor, &mut stream);
            continue;
        }
        if due >= end {
            return out;
        }
        out.push(due);
        pending = source.next(due, &mut stream);
    }
}

#[test]
fn paced_arrivals_keep_equal_gaps_from_half_a_gap_without_drift() {
    let times = run(
        &Arrivals::paced(3.0).unwrap(),
        Time(100_000_000_000_000),
        &[],
    );
    assert_eq!(times.len(), 300_000);
    for (n, time) in times.iter().enumerate() {
        let exact = (n as f64 + 0.5) * 1e9 / 3.0;
        assert!(
            (time.0 as f64 - exact).abs() <= 0.501,
            "arrival {n} at {time:?}"
        );
    }
}

#[test]
fn poisson_arrivals_have_exponential_gaps() {
    let seconds = 1000u64;
    let times = run(
        &Arrivals::poisson(50.0).unwrap(),
        Time(seconds * 1_000_000_000),
        &[],
    );
    // 50 000 ± 3.3 standard deviations of 223.6.
    assert!((49_263..=50_737).contains(&times.len()), "{}", times.len());
    // The share of gaps above the mean is 1/e: 3.3 standard deviations are 0.0071.
    let long = times
        .windows(2)
        .filter(|w| w[1].since(w[0]).0 > 20_000_000)
        .count();
    let share = long as f64 / (times.len() - 1) as f64;
    assert!((share - 0.36788).abs() < 0.0072, "{share}");
}

#[test]
fn a_change_of_load_keeps_the_order_of_arrivals_and_draws_nothing() {
    let end = secs(60);
    let ramp = [
        (secs(0), 5.0),
        (secs(12), 40.0),
        (secs(15), 40.0),
        (secs(15), 0.0),
        (secs(18), 9.0),
    ];
    for arrivals in [
        Arrivals::poisson(20.0).unwrap(),
        Arrivals::paced(20.0).unwrap(),
        Arrivals::profile(&ramp, Process::Poisson, false).unwrap(),
        Arrivals::profile(&ramp, Process::Paced, true).unwrap(),
    ] {
        let base = run(&arrivals, end, &[]);
        let (from, to) = (secs(10), secs(20));
        for factor in [5.0, 1.0, 0.3, 0.0] {
            let changed = run(&arrivals, end, &[(from, factor), (to, 1.0)]);
            assert!(changed.len() > 300);
            for (n, &time) in changed.iter().enumerate() {
                // As much operational time has passed as at the n-th arrival as written.
                let inside = arrivals.expected(from, time.min(to));
                let passed = arrivals.expected(Time::ZERO, time) + (factor - 1.0) * inside;
                if let Some(&written) = base.get(n) {
                    let expected = arrivals.expected(Time::ZERO, written);
                    assert!(
                        (passed - expected).abs() < 1e-6,
                        "{arrivals:?} {factor}: arrival {n}"
                    );
                } else {
                    assert!(passed >= arrivals.expected(Time::ZERO, end) - 1e-6);
                }
            }
        }
    }
}

#[test]
fn a_load_of_zero_holds_the_pending_arrival_until_the_load_returns() {
    let arrivals = Arrivals::paced(1.0).unwrap();
    let (mut source, mut stream) = (Source::new(&arrivals), stream());
    assert_eq!(source.first(&mut stream), Some(Time(500_000_000)));
    assert_eq!(source.set_factor(Time(300_000_000), 0.0, &mut stream), None);
    assert_eq!(
        source.set_factor(Time(10_000_000_000), 2.0, &mut stream),
        Some(Time(10_100_000_000))
    );
    assert_eq!(
        source.next(Time(10_100_000_000), &mut stream),
        Some(Time(10_600_000_000))
    );
}

#[test]
fn a_factor_before_the_first_arrival_is_kept_for_it() {
    let (mut source, mut stream) = (Source::new(&Arrivals::paced(1.0).unwrap()), stream());
    assert_eq!(source.set_factor(Time::ZERO, 4.0, &mut stream), None);
    assert_eq!(source.first(&mut stream), Some(Time(125_000_000)));
}

#[test]
fn no_rate_is_no_arrival_and_a_wrong_rate_is_refused() {
    let mut source = Source::new(&Arrivals::poisson(0.0).unwrap());
    assert_eq!(source.first(&mut stream()), None);
    assert_eq!(source.set_factor(Time(5), 10.0, &mut stream()), None);
    for wrong in [-1.0, f64::NAN, f64::INFINITY] {
        assert!(Arrivals::poisson(wrong).is_err());
        assert!(Arrivals::paced(wrong).is_err());
    }
}

#[test]
fn renewals_follow_their_law() {
    let gap = Law::gamma(2.0, Span::millis(10)).unwrap();
    let arrivals = Arrivals::renewal(gap.clone()).unwrap();
    assert_eq!(arrivals.expected(secs(1), secs(4)), 300.0);
    let times = run(&arrivals, secs(1), &[]);
    let mut reference = stream();
    let mut at = Time::ZERO;
    for time in times {
        at = at.after(gap.sample(&mut reference));
        assert_eq!(time, at);
    }
    assert!(Arrivals::renewal(Law::Constant(Span::ZERO)).is_err());
}

#[test]
fn each_stretch_of_a_profile_gets_its_share_of_arrivals() {
    let points = [
        (secs(10), 50.0),
        (secs(100), 200.0),
        (secs(150), 200.0),
        (secs(150), 0.0),
        (secs(200), 0.0),
        (secs(250), 400.0),
        (secs(300), 10.0),
    ];
    let stretches = [
        (0, 10, 500.0),
        (10, 100, 11_250.0),
        (100, 150, 10_000.0),
        (150, 200, 0.0),
        (200, 250, 10_000.0),
        (250, 300, 10_250.0),
        (300, 800, 5_000.0),
    ];
    for process in [Process::Poisson, Process::Paced] {
        let arrivals = Arrivals::profile(&points, process, false).unwrap();
        let times = run(&arrivals, secs(800), &[]);
        assert!(times.is_sorted());
        for (from, to, expected) in stretches {
            let (from, to) = (secs(from), secs(to));
            let computed = arrivals.expected(from, to);
            assert!(
                (computed - expected).abs() < 1e-6,
                "{computed}, not {expected}"
            );
            // Poisson counts: 4 standard deviations. Paced counts: at most one off at either end.
            let slack = match process {
                Process::Poisson => 4.0 * f64::sqrt(expected),
                Process::Paced => 1.0,
            };
            let got = count(&times, from, to);
            assert!(
                (got - expected).abs() <= slack,
                "{process:?} {from:?}: {got}, not {expected}"
            );
        }
    }
}

#[test]
fn within_a_ramp_arrivals_follow_the_slope() {
    let arrivals = Arrivals::profile(
        &[(secs(0), 0.0), (secs(100), 1000.0)],
        Process::Poisson,
        true,
    )
    .unwrap();
    let times = run(&arrivals, secs(100), &[]);
    for tenth in 0..10 {
        let expected = 1000.0 * f64::from(2 * tenth + 1) / 2.0;
        let (from, to) = (secs(10 * tenth as u64), secs(10 * (tenth as u64 + 1)));
        let got = count(&times, from, to);
        assert!(
            (got - expected).abs() < 4.0 * expected.sqrt(),
            "{got}, not {expected}"
        );
    }
}

#[test]
fn a_flat_profile_is_the_same_as_a_constant_rate() {
    for (process, steady) in [
        (Process::Poisson, Arrivals::poisson(30.0).unwrap()),
        (Process::Paced, Arrivals::paced(30.0).unwrap()),
    ] {
        let points = [(secs(3), 30.0), (secs(4), 30.0)];
        for repeat in [false, true] {
            let profile = Arrivals::profile(&points, process, repeat).unwrap();
            let (a, b) = (run(&profile, secs(100), &[]), run(&steady, secs(100), &[]));
            assert_eq!(a.len(), b.len());
            assert!(a.iter().zip(&b).all(|(a, b)| a.0.abs_diff(b.0) <= 1));
        }
    }
}

#[test]
fn paced_steps_are_exact() {
    let points = [
        (secs(0), 50.0),
        (secs(20), 50.0),
        (secs(20), 150.0),
        (secs(30), 150.0),
        (secs(30), 50.0),
    ];
    let times = run(
        &Arrivals::profile(&points, Process::Paced, false).unwrap(),
        secs(40),
        &[],
    );
    assert_eq!(times.len(), 1000 + 1500 + 500);
    assert_eq!(times[0], Time(10_000_000));
    assert_eq!(times[999], Time(19_990_000_000));
    // Half of the gap passed at the slow rate; the other half passes at the quick one.
    assert_eq!(times[1000], Time(20_003_333_333));
    assert_eq!(times[2500], Time(30_010_000_000));
}

#[test]
fn a_profile_that_repeats_starts_over_at_its_last_point() {
    let points = [
        (secs(0), 10.0),
        (secs(5), 10.0),
        (secs(5), 0.0),
        (secs(10), 0.0),
    ];
    let arrivals = Arrivals::profile(&points, Process::Paced, true).unwrap();
    let times = run(&arrivals, secs(1000), &[]);
    assert_eq!(times.len(), 5000);
    assert_eq!(arrivals.expected(secs(2), secs(93)), 460.0);
    for (n, time) in times.iter().enumerate() {
        let exact = secs(n as u64 / 50 * 10).0 + (n as u64 % 50) * 100_000_000 + 50_000_000;
        assert!(time.0.abs_diff(exact) <= 1, "arrival {n}: {time:?}");
    }
}

#[test]
fn a_profile_without_a_further_rate_ends() {
    let ended =
        Arrivals::profile(&[(secs(0), 5.0), (secs(4), 0.0)], Process::Paced, false).unwrap();
    assert_eq!(run(&ended, Time::MAX, &[]).len(), 10);
    for repeat in [false, true] {
        let never = Arrivals::profile(&[(secs(9), 0.0)], Process::Poisson, repeat).unwrap();
        assert_eq!(Source::new(&never).first(&mut stream()), None);
        assert_eq!(never.expected(Time::ZERO, Time::MAX), 0.0);
    }
    // Due exactly when the rate ends, then set free when nothing arrives any more.
    let mut source = Source::new(&ended);
    source.first(&mut stream());
    assert_eq!(source.set_factor(Time::ZERO, 0.0, &mut stream()), None);
    assert_eq!(source.set_factor(secs(7), 1.0, &mut stream()), None);
}

#[test]
fn a_nearly_dead_load_on_a_profile_that_repeats_finds_its_arrival() {
    let points = [(secs(0), 1.0), (secs(1), 1.0)];
    let arrivals = Arrivals::profile(&points, Process::Paced, true).unwrap();
    let mut source = Source::new(&arrivals);
    source.set_factor(Time::ZERO, 1e-9, &mut stream());
    let first = source.first(&mut stream()).unwrap();
    assert!(
        first.0.abs_diff(500_000_000_000_000_000) < 1000,
        "{first:?}"
    );
    source.set_factor(secs(1), 1e-300, &mut stream());
    assert_eq!(
        source.set_factor(secs(1), f64::MIN_POSITIVE / 4.0, &mut stream()),
        None
    );
}

#[test]
fn steps_hold_each_rate_until_the_next_and_none_outside() {
    let bins = [(secs(2), 4.0), (secs(3), 2.0)];
    for repeat in [false, true] {
        let profile = Profile::steps(&bins, secs(5), repeat).unwrap();
        let arrivals = Arrivals::Profile {
            profile,
            process: Process::Poisson,
        };
        let per_second: Vec<f64> = (0..7)
            .map(|n| arrivals.expected(secs(n), secs(n + 1)))
            .collect();
        assert_eq!(per_second, [0.0, 0.0, 4.0, 2.0, 2.0, 0.0, 0.0]);
    }
}

#[test]
fn wrong_profiles_and_traces_are_refused_in_words() {
    let profile = |points: &[(Time, f64)], repeat| Profile::new(points, repeat).unwrap_err();
    assert_eq!(profile(&[], false), "a profile needs at least one point");
    assert_eq!(
        profile(&[(secs(1), -2.0)], false),
        "a rate must be 0/s or above, not -2/s"
    );
    assert_eq!(
        profile(&[(secs(5), 1.0), (secs(3), 1.0)], false),
        "points must be in order of time, but 3s follows 5s"
    );
    assert_eq!(
        profile(&[(secs(0), 1.0)], true),
        "a profile that repeats must end after 0s"
    );
    assert_eq!(
        Profile::steps(&[], secs(1), false).unwrap_err(),
        "a profile needs at least one step"
    );
    let trace = |instants: &[Time], speed, repeat| Trace::new(instants, speed, repeat).unwrap_err();
    assert_eq!(trace(&[], 1.0, false), "a trace needs at least one arrival");
    assert_eq!(
        trace(&[secs(1)], 0.0, false),
        "the speed must be above 0, not 0"
    );
    assert_eq!(
        trace(&[secs(1), secs(1)], 1.0, true),
        "a trace that repeats needs two arrivals at different times"
    );
}

fn any_arrivals() -> impl Strategy<Value = Arrivals> {
    let rate = || prop_oneof![Just(0.0), 0.0..500.0, Just(1e9), Just(1e-9)];
    let time = || prop_oneof![0..20_000_000_000u64, Just(u64::MAX)].prop_map(Time);
    let process = || prop_oneof![Just(Process::Poisson), Just(Process::Paced)];
    prop_oneof![
        rate().prop_map(|rate| Arrivals::poisson(rate).unwrap()),
        rate().prop_map(|rate| Arrivals::paced(rate).unwrap()),
        (vec((time(), rate()), 1..6), process(), any::<bool>()).prop_filter_map(
            "repeats at zero",
            |(mut points, process, repeat)| {
                points.sort_by_key(|(time, _)| *time);
                Arrivals::profile(&points, process, repeat).ok()
            }
        ),
        (vec(time(), 1..20), 0.1..10.0, any::<bool>())
            .prop_filter_map("repeats at zero", |(instants, speed, repeat)| {
                Arrivals::trace(&instants, speed, repeat).ok()
            }),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn time_never_runs_back_whatever_the_load_does(
        arrivals in any_arrivals(),
        changes in vec((any::<bool>(), 0.0..1.0, prop_oneof![0.0..10.0, Just(f64::INFINITY), Just(-1.0), Just(1e-300)]), 0..200),
    ) {
        let (mut source, mut stream) = (Source::new(&arrivals), stream());
        let mut now = Time::ZERO;
        let mut pending = source.first(&mut stream);
        for (change, part, factor) in changes {
            if let Some(due) = pending {
                prop_assert!(due >= now, "{due:?} is before {now:?}");
            }
            if change || pending.is_none() {
                // Somewhere on the way to the pending arrival, or a while later if there is none.
                let due = pending.unwrap_or(now.after(Span::secs(1)));
                now = now.after(due.since(now).times(part)).min(due);
                pending = source.set_factor(now, factor, &mut stream);
            } else if let Some(due) = pending {
                now = due;
                pending = source.next(now, &mut stream);
            }
        }
    }
}
