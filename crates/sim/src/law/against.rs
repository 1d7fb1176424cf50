//! Laws of parameters that nobody chose, against another library: its moments, its distribution function, and samples that
//! follow it.

use statrs::distribution::{
    self as other, ChiSquared, ContinuousCDF, Erlang, Gamma, LogNormal, Pareto, Uniform, Weibull,
};
use statrs::statistics::Distribution;

use super::*;
use crate::rng::Purpose;

/// How often right samples may fail, of ten thousand times. Seeds are fixed, so that what passes goes on passing.
const LEVEL: f64 = 1e-4;
const SAMPLES: usize = 20_000;
/// Parameters tried of each law.
const EACH: usize = 8;

/// Numbers in `from..to`, spread evenly over their logarithms.
struct Parameters(Stream);

impl Parameters {
    fn of(name: &str) -> Parameters {
        Parameters(Stream::new(7, Purpose::Work, name))
    }

    fn between(&mut self, from: f64, to: f64) -> f64 {
        let u = self.0.next_u64() as f64 / u64::MAX as f64;
        from * libm::pow(to / from, u)
    }

    /// A length of time; whole nanoseconds, as laws have them.
    fn span(&mut self) -> Span {
        Span::from_secs_f64(self.between(1e-3, 10.0))
    }
}

/// `theirs` has the moments and the distribution function of `law`, and samples of `law` follow it (Kolmogorov and Smirnov).
fn agree<D: ContinuousCDF<f64, f64> + Distribution<f64>>(law: &Law, theirs: &D) {
    let near = |mine: Option<f64>, their: Option<f64>, what: &str| {
        // Where there is no such moment the other library says so or gives infinity.
        let their = their.filter(|moment| moment.is_finite());
        let same = match (mine, their) {
            (Some(mine), Some(their)) => (mine - their).abs() <= 1e-6 * their,
            (mine, their) => mine.is_none() && their.is_none(),
        };
        assert!(same, "{law:?}: {what} {mine:?}, not {their:?}");
    };
    near(law.mean(), theirs.mean(), "mean");
    near(law.variance(), theirs.variance(), "variance");

    let mut stream = Stream::new(11, Purpose::Work, &format!("{law:?}"));
    let mut samples: Vec<Span> = (0..SAMPLES).map(|_| law.sample(&mut stream)).collect();
    samples.sort_unstable();
    let n = SAMPLES as f64;
    let mut distance = 0.0f64;
    for (rank, sample) in samples.iter().enumerate() {
        let p = theirs.cdf(sample.as_secs_f64());
        let mine = law.cdf(*sample);
        // Samples are whole nanoseconds of at least a thousandth of a second on average.
        assert!(
            (p - mine).abs() < 1e-5,
            "{law:?} at {sample}: {mine}, not {p}"
        );
        let (below, upto) = (rank as f64 / n, (rank + 1) as f64 / n);
        distance = distance.max((p - below).abs()).max((p - upto).abs());
    }
    let critical = (-0.5 * libm::log(LEVEL / 2.0)).sqrt() / n.sqrt();
    assert!(
        distance < critical,
        "{law:?}: distance {distance}, critical {critical}"
    );
}

#[test]
fn exponential() {
    let mut any = Parameters::of("exponential");
    for _ in 0..EACH {
        let mean = any.span();
        let theirs = other::Exp::new(1.0 / mean.as_secs_f64()).unwrap();
        agree(&Law::exponential(mean).unwrap(), &theirs);
    }
}

#[test]
fn uniform() {
    let mut any = Parameters::of("uniform");
    for _ in 0..EACH {
        let (from, length) = (any.span(), any.span());
        let to = from.plus(length);
        let theirs = Uniform::new(from.as_secs_f64(), to.as_secs_f64()).unwrap();
        agree(&Law::uniform(from, to).unwrap(), &theirs);
    }
}

#[test]
fn erlang_and_gamma() {
    let mut any = Parameters::of("gamma");
    for _ in 0..EACH {
        let (mean, stages) = (any.span(), any.between(1.0, 40.0) as u64);
        let rate = stages as f64 / mean.as_secs_f64();
        let theirs = Erlang::new(stages, rate).unwrap();
        agree(&Law::gamma(stages as f64, mean).unwrap(), &theirs);
        let (mean, shape) = (any.span(), any.between(0.3, 60.0));
        let theirs = Gamma::new(shape, shape / mean.as_secs_f64()).unwrap();
        agree(&Law::gamma(shape, mean).unwrap(), &theirs);
    }
}

#[test]
fn lognormal() {
    let mut any = Parameters::of("lognormal");
    for _ in 0..EACH {
        let (mean, cv) = (any.span(), any.between(0.1, 3.0));
        let square = libm::log(1.0 + cv * cv);
        let location = libm::log(mean.as_secs_f64()) - square / 2.0;
        let theirs = LogNormal::new(location, square.sqrt()).unwrap();
        agree(&Law::lognormal_mean_cv(mean, cv).unwrap(), &theirs);
    }
}

#[test]
fn weibull_and_pareto() {
    let mut any = Parameters::of("weibull");
    for _ in 0..EACH {
        let (scale, shape) = (any.span(), any.between(0.6, 6.0));
        let theirs = Weibull::new(shape, scale.as_secs_f64()).unwrap();
        agree(&Law::weibull(shape, scale).unwrap(), &theirs);
        // Below shape 1 there is no mean, below 2 no variance.
        let (scale, shape) = (any.span(), any.between(0.7, 6.0));
        let theirs = Pareto::new(scale.as_secs_f64(), shape).unwrap();
        agree(&Law::pareto(shape, scale).unwrap(), &theirs);
    }
}

/// Pearson's test, with the critical value of the other library's chi-squared law.
#[test]
fn discrete() {
    let mut any = Parameters::of("discrete");
    for _ in 0..EACH {
        let kinds = 2 + any.0.below(9) as usize;
        let weights: Vec<f64> = (0..kinds).map(|_| any.between(0.05, 1.0)).collect();
        let total: f64 = weights.iter().sum();
        let values = (1..=kinds as u64).map(Span::millis);
        let law = Law::discrete(weights.iter().copied().zip(values).collect()).unwrap();
        let mut stream = Stream::new(11, Purpose::Work, &format!("{law:?}"));
        let mut seen = vec![0.0; kinds];
        for _ in 0..SAMPLES {
            seen[law.sample(&mut stream).0 as usize / 1_000_000 - 1] += 1.0;
        }
        let statistic: f64 = (weights.iter().zip(&seen))
            .map(|(weight, seen)| {
                let expected = weight / total * SAMPLES as f64;
                (seen - expected) * (seen - expected) / expected
            })
            .sum();
        let freedom = ChiSquared::new(kinds as f64 - 1.0).unwrap();
        let critical = freedom.inverse_cdf(1.0 - LEVEL);
        assert!(
            statistic < critical,
            "{law:?}: {statistic}, critical {critical}"
        );
    }
}
