//! Laws against their formulas, against another library and against their tables.

use statrs::distribution::{self as other, ContinuousCDF};

use super::*;
use crate::rng::Purpose;

fn stream(name: &str) -> Stream {
    Stream::new(2024, Purpose::Work, name)
}

/// One of each kind, and shapes on both sides of where algorithms change.
fn zoo() -> Vec<Law> {
    let ms = Span::millis;
    vec![
        Law::Constant(ms(5)),
        Law::uniform(ms(2), ms(9)).unwrap(),
        Law::exponential(ms(10)).unwrap(),
        Law::gamma(0.4, ms(10)).unwrap(),
        Law::gamma(1.0, ms(10)).unwrap(),
        Law::gamma(4.0, ms(10)).unwrap(),
        Law::gamma(250.5, ms(10)).unwrap(),
        Law::lognormal_mean_cv(ms(10), 2.0).unwrap(),
        Law::lognormal_p50_p99(ms(2), ms(15)).unwrap(),
        Law::weibull(0.7, ms(10)).unwrap(),
        Law::weibull(3.0, ms(10)).unwrap(),
        Law::pareto(5.5, ms(10)).unwrap(),
        Law::normal(ms(10), ms(2)).unwrap(),
        Law::normal(Span::ZERO, ms(2)).unwrap(),
        Law::hyperexponential(ms(10), 2.0).unwrap(),
        Law::discrete(vec![(0.95, ms(1)), (0.05, ms(100))]).unwrap(),
        Law::empirical(&[(0.0, ms(1)), (0.5, ms(2)), (0.99, ms(10)), (1.0, ms(50))]).unwrap(),
    ]
}

fn samples(law: &Law, n: usize) -> Vec<Span> {
    let mut stream = stream(&format!("{law:?}"));
    (0..n).map(|_| law.sample(&mut stream)).collect()
}

/// Fails when the samples are too far from `cdf` (seconds to probability): the Kolmogorov–Smirnov
/// test at level 0.001.
fn assert_fits(law: &Law, cdf: impl Fn(f64) -> f64) {
    let n = 20_000;
    let mut sorted = samples(law, n);
    sorted.sort();
    let distance = sorted
        .iter()
        .enumerate()
        .map(|(rank, x)| {
            let p = cdf(x.as_secs_f64());
            let (below, upto) = (rank as f64 / n as f64, (rank + 1) as f64 / n as f64);
            (p - below).abs().max((p - upto).abs())
        })
        .fold(0.0, f64::max);
    let critical = (-0.5 * libm::log(0.001 / 2.0)).sqrt() / (n as f64).sqrt();
    assert!(
        distance < critical,
        "{law:?}: distance {distance}, critical {critical}"
    );
}

#[test]
fn a_variate_takes_one_draw_and_a_constant_none() {
    for law in zoo() {
        let mut stream = stream("one draw");
        let mut reference = stream.clone();
        for _ in 0..100 {
            law.sample(&mut stream);
            if !matches!(law, Law::Constant(_)) {
                reference.next_u64();
            }
        }
        assert_eq!(stream.next_u64(), reference.next_u64(), "{law:?}");
    }
}

#[test]
fn samples_have_the_mean_and_variance_of_the_law() {
    for law in zoo() {
        let n = 100_000;
        let values: Vec<f64> = samples(&law, n).iter().map(|x| x.as_secs_f64()).collect();
        let moment = |center: f64, power: usize| {
            let total: f64 = values
                .iter()
                .map(|x| (0..power).map(|_| x - center).product::<f64>())
                .sum();
            total / n as f64
        };
        let mean = moment(0.0, 1);
        let (second, fourth) = (moment(mean, 2), moment(mean, 4));
        // Four standard errors each; one nanosecond for rounding.
        let error = 4.0 * (second / n as f64).sqrt() + 1e-9;
        let expected = law.mean().unwrap();
        assert!(
            (mean - expected).abs() < error,
            "{law:?}: mean {mean}, not {expected}"
        );
        let error = 4.0 * ((fourth - second * second) / n as f64).sqrt() + 1e-18;
        let expected = law.variance().unwrap();
        assert!(
            (second - expected).abs() < error,
            "{law:?}: variance {second}, not {expected}"
        );
    }
}

#[test]
fn samples_follow_the_distribution_functions_of_another_library() {
    let ms = Span::millis;
    let exponential = other::Exp::new(100.0).unwrap();
    assert_fits(&Law::exponential(ms(10)).unwrap(), |x| exponential.cdf(x));
    let uniform = other::Uniform::new(0.002, 0.009).unwrap();
    assert_fits(&Law::uniform(ms(2), ms(9)).unwrap(), |x| uniform.cdf(x));
    for shape in [0.4, 1.0, 2.0, 4.0, 37.5] {
        let gamma = other::Gamma::new(shape, shape / 0.01).unwrap();
        assert_fits(&Law::gamma(shape, ms(10)).unwrap(), |x| gamma.cdf(x));
    }
    // Mean 1 and squared coefficient of variation 4, in milliseconds.
    let lognormal = other::LogNormal::new(-0.804_718_956_217_05, 1.268_636_241_179_52).unwrap();
    assert_fits(&Law::lognormal_mean_cv(ms(1), 2.0).unwrap(), |x| {
        lognormal.cdf(x * 1e3)
    });
    for shape in [0.7, 1.0, 3.0] {
        let weibull = other::Weibull::new(shape, 0.01).unwrap();
        assert_fits(&Law::weibull(shape, ms(10)).unwrap(), |x| weibull.cdf(x));
    }
    for shape in [0.9, 2.5] {
        let pareto = other::Pareto::new(0.01, shape).unwrap();
        assert_fits(&Law::pareto(shape, ms(10)).unwrap(), |x| pareto.cdf(x));
    }
    for (location, sd) in [(10, 2), (1, 2), (0, 2)] {
        let uncut = other::Normal::new(location as f64 / 1e3, sd as f64 / 1e3).unwrap();
        let cut = uncut.cdf(0.0);
        assert_fits(&Law::normal(ms(location), ms(sd)).unwrap(), |x| {
            (uncut.cdf(x) - cut) / (1.0 - cut)
        });
    }
    let (fast, slow) = (
        other::Exp::new(1_774.596_669).unwrap(),
        other::Exp::new(225.403_331).unwrap(),
    );
    assert_fits(&Law::hyperexponential(ms(1), 2.0).unwrap(), |x| {
        0.887_298_334_6 * fast.cdf(x) + 0.112_701_665_4 * slow.cdf(x)
    });
}

#[test]
fn samples_follow_the_laws_own_distribution_function() {
    let continuous = |law: &Law| !matches!(law, Law::Constant(_) | Law::Discrete(_));
    for law in zoo().iter().filter(|law| continuous(law)) {
        assert_fits(law, |x| law.cdf(Span::from_secs_f64(x)));
    }
}

#[test]
fn the_quantile_undoes_the_distribution_function() {
    for law in zoo() {
        if matches!(law, Law::Constant(_) | Law::Discrete(_)) {
            continue;
        }
        for percent in 1..100 {
            let q = f64::from(percent) / 100.0;
            let x = law.quantile(q);
            // The nanoseconds on either side of the rounded one hold the exact quantile.
            let (below, above) = (law.cdf(x.minus(Span(1))), law.cdf(x.plus(Span(1))));
            let slack = 1e-12;
            assert!(
                below - slack <= q && q <= above + slack,
                "{law:?}: {q} gave {x}"
            );
        }
    }
}

#[test]
fn quantiles_of_laws_with_steps_are_their_values() {
    let (low, high) = (Span::millis(1), Span::millis(100));
    let law = Law::discrete(vec![(1.0, high), (0.0, Span::secs(9)), (19.0, low)]).unwrap();
    assert_eq!([0.0, 0.5, 0.94].map(|q| law.quantile(q)), [low; 3]);
    assert_eq!([0.96, 1.0].map(|q| law.quantile(q)), [high; 2]);
    assert_eq!(law.cdf(Span::micros(999)), 0.0);
    assert_eq!([low, Span::millis(99)].map(|x| law.cdf(x)), [0.95; 2]);
    assert_eq!(law.cdf(high), 1.0);
    let constant = Law::Constant(low);
    assert_eq!([0.0, 0.3, 1.0].map(|q| constant.quantile(q)), [low; 3]);
    assert_eq!(
        (constant.cdf(Span(low.0 - 1)), constant.cdf(low)),
        (0.0, 1.0)
    );
}

#[test]
fn the_same_draw_is_never_shorter_under_a_slower_law() {
    for law in zoo() {
        let slow = law.scaled(3.0);
        for (fast, slow) in samples(&law, 1000).iter().zip({
            let mut stream = stream(&format!("{law:?}"));
            (0..1000).map(move |_| slow.sample(&mut stream))
        }) {
            // Twice half a nanosecond of rounding, and of the scaled parameter.
            let tripled = fast.times(3.0);
            let difference = slow.0.abs_diff(tripled.0);
            assert!(
                difference as f64 <= 3.0 + 1e-6 * tripled.0 as f64,
                "{law:?}"
            );
        }
    }
}

#[test]
fn scaling_scales_the_mean_and_nothing_else() {
    for law in zoo() {
        let scaled = law.scaled(2.5);
        let (before, after) = (law.mean().unwrap(), scaled.mean().unwrap());
        assert!((after / before - 2.5).abs() < 1e-6, "{law:?}");
        let cv = |law: &Law| law.variance().unwrap().sqrt() / law.mean().unwrap();
        assert!((cv(&law) - cv(&scaled)).abs() < 1e-6, "{law:?}");
        for nothing in [0.0, -1.0, f64::NAN] {
            assert_eq!(law.scaled(nothing), Law::Constant(Span::ZERO));
        }
    }
}

#[test]
fn infinite_moments_are_none() {
    let ms = Span::millis(1);
    assert_eq!(Law::pareto(1.0, ms).unwrap().mean(), None);
    let heavy = Law::pareto(2.0, ms).unwrap();
    assert_eq!((heavy.mean(), heavy.variance()), (Some(0.002), None));
    let mixed = Law::mixture(vec![(0.9, Law::Constant(ms)), (0.1, heavy)]).unwrap();
    assert!((mixed.mean().unwrap() - 0.0011).abs() < 1e-12);
    assert_eq!(mixed.variance(), None);
}

#[test]
fn a_percentile_table_is_reproduced_and_flat_beyond_its_ends() {
    let table = [
        (0.5, 6_671),
        (0.75, 7_784),
        (0.9, 9_143),
        (0.99, 11_183),
        (0.999, 12_303),
    ];
    let table = table.map(|(q, micros)| (q, Span::micros(micros)));
    let law = Law::empirical(&table).unwrap();
    for (q, value) in table {
        assert_eq!(law.quantile(q), value);
    }
    assert_eq!(law.quantile(0.0), table[0].1);
    assert_eq!(law.quantile(1.0), table[4].1);
    assert_eq!(law.quantile(0.625), Span::micros(7_227).plus(Span(500)));
    let mut sorted = samples(&law, 100_000);
    sorted.sort();
    assert_eq!(sorted[0], table[0].1);
    assert_eq!(sorted[99_999], table[4].1);
    for (q, value) in &table[1..4] {
        // Ranks of a binomial share: 4 standard deviations on either side hold the value.
        let (n, sd) = (100_000.0, (100_000.0 * q * (1.0 - q)).sqrt());
        let (low, high) = ((n * q - 4.0 * sd) as usize, (n * q + 4.0 * sd) as usize);
        assert!(sorted[low] <= *value && *value <= sorted[high], "p{q}");
    }
}

#[test]
fn a_percentile_table_may_jump_and_comes_in_any_order() {
    let ms = Span::millis;
    let law = Law::empirical(&[(1.0, ms(9)), (0.5, ms(8)), (0.0, ms(1)), (0.5, ms(2))]).unwrap();
    assert_eq!(law.quantile(0.499_999_999), ms(2));
    assert_eq!(law.quantile(0.5), ms(8));
    assert_eq!(law.cdf(ms(5)), 0.5);
    assert!((law.mean().unwrap() - (0.5 * 0.0015 + 0.5 * 0.0085)).abs() < 1e-12);
}

#[test]
fn observed_values_become_evenly_spaced_quantiles() {
    let ms = Span::millis;
    let law = Law::empirical_values(&[ms(30), ms(10), ms(20)]).unwrap();
    assert_eq!(
        [0.0, 0.25, 0.5, 1.0].map(|q| law.quantile(q)),
        [ms(10), ms(15), ms(20), ms(30)]
    );
    let single = Law::empirical_values(&[ms(7)]).unwrap();
    assert_eq!([0.0, 0.5, 1.0].map(|q| single.quantile(q)), [ms(7); 3]);
}

#[test]
fn named_constructions_have_the_promised_moments() {
    let mean = Span::secs(1);
    let Law::Lognormal { mu, sigma } = Law::lognormal_mean_cv(mean, 2.0).unwrap() else {
        panic!("not lognormal");
    };
    assert!((mu - libm::log(1e9) + 0.804_718_956_217_05).abs() < 1e-12);
    assert!((sigma - 1.268_636_241_179_52).abs() < 1e-12);
    let (p50, p99) = (Span::millis(2), Span::millis(15));
    let law = Law::lognormal_p50_p99(p50, p99).unwrap();
    assert!(law.quantile(0.5).0.abs_diff(p50.0) <= 1 && law.quantile(0.99).0.abs_diff(p99.0) <= 1);
    let law = Law::hyperexponential(mean, 2.0).unwrap();
    assert!((law.mean().unwrap() - 1.0).abs() < 1e-8);
    assert!((law.variance().unwrap() - 4.0).abs() < 1e-7);
    let law = Law::gamma(4.0, mean).unwrap();
    assert_eq!((law.mean(), law.variance()), (Some(1.0), Some(0.25)));
}

#[test]
fn wrong_parameters_are_refused_in_words() {
    let ms = Span::millis(1);
    let nested = |weight| Law::mixture(vec![(weight, Law::Constant(ms))]);
    let wrong = [
        (
            Law::uniform(Span::millis(2), ms),
            "the lower bound 2ms is above the upper bound 1ms",
        ),
        (Law::exponential(Span::ZERO), "the mean must be above 0s"),
        (Law::gamma(0.0, ms), "the shape must be above 0, not 0"),
        (
            Law::gamma(2e6, ms),
            "the shape must be at most 1000000, not 2000000",
        ),
        (
            Law::lognormal_mean_cv(ms, f64::NAN),
            "the coefficient of variation must be above 0, not NaN",
        ),
        (
            Law::lognormal_p50_p99(ms, ms),
            "p99 must be above p50, not 1ms with p50 at 1ms",
        ),
        (Law::weibull(-1.0, ms), "the shape must be above 0, not -1"),
        (
            Law::pareto(f64::INFINITY, ms),
            "the shape must be above 0, not inf",
        ),
        (
            Law::normal(ms, Span::ZERO),
            "the standard deviation must be above 0s",
        ),
        (
            Law::hyperexponential(ms, 1.0),
            "the coefficient of variation must be above 1, not 1",
        ),
        (nested(-1.0), "a weight must be 0 or above, not -1"),
        (nested(0.0), "at least one weight must be above 0"),
        (Law::discrete(vec![]), "at least one weight must be above 0"),
        (
            Law::empirical(&[]),
            "a percentile table needs at least one row",
        ),
        (
            Law::empirical(&[(1.5, ms)]),
            "a quantile must be in 0 to 1, not 1.5",
        ),
        (
            Law::empirical(&[(0.5, Span::millis(2)), (0.9, ms)]),
            "quantile 0.9 is 1ms, below quantile 0.5 with 2ms",
        ),
    ];
    for (result, message) in wrong {
        assert_eq!(result.unwrap_err(), message);
    }
}

#[test]
fn extreme_parameters_and_draws_give_lengths() {
    let laws = [
        Law::pareto(0.001, Span::MAX).unwrap(),
        Law::weibull(0.001, Span::MAX).unwrap(),
        Law::lognormal_mean_cv(Span::MAX, 1e100).unwrap(),
        Law::gamma(1e-9, Span::MAX).unwrap(),
        Law::gamma(1e6, Span(1)).unwrap(),
        Law::normal(Span::MAX, Span(1)).unwrap(),
        Law::normal(Span::ZERO, Span::MAX).unwrap(),
        Law::uniform(Span::ZERO, Span::MAX).unwrap(),
    ];
    for law in laws {
        for bits in [0, 1 << 11, u64::MAX / 2, u64::MAX] {
            assert!(law.variate(bits) >= 0.0, "{law:?} at {bits}");
        }
        for q in [0.0, 1e-300, 0.5, 1.0, f64::NAN] {
            let x = law.quantile(q);
            assert!((0.0..=1.0).contains(&law.cdf(x)), "{law:?} at {q}");
        }
    }
}

#[test]
fn draws_are_part_of_the_contract() {
    // A second implementation, in Python, gives the same. Changing any of these changes
    // trajectories: a versioned event.
    let mut stream = stream("contract");
    let drawn: Vec<u64> = zoo().iter().map(|law| law.sample(&mut stream).0).collect();
    let expected = [
        5_000_000, 2_285_863, 14_489_807, 29_986_971, 14_799_873, 2_546_119, 10_078_880, 5_515_400,
        6_153_008, 10_519_146, 5_817_679, 12_296_219, 8_484_517, 1_407_759, 10_652_996, 1_000_000,
        1_092_945,
    ];
    assert_eq!(drawn, expected);
}
