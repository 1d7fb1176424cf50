//! Special functions on `libm` and + − × ÷ √ alone.

use std::f64::consts::{FRAC_1_SQRT_2, PI};

/// Half the spacing of 53-bit units: the smallest tail a draw can stand for.
const SMALLEST_TAIL: f64 = 1.0 / (1u64 << 54) as f64;

/// The standard normal density.
pub(super) fn normal_density(z: f64) -> f64 {
    libm::exp(-0.5 * z * z) / (2.0 * PI).sqrt()
}

/// The standard normal distribution function.
pub(super) fn normal_cdf(z: f64) -> f64 {
    0.5 * libm::erfc(-z * FRAC_1_SQRT_2)
}

/// The standard normal quantile, relative error about 1e-16 (Wichura 1988, algorithm AS 241, PPND16).
///
/// Probabilities closer to 0 or 1 than 2^-54 count as 2^-54: ±8.3 standard deviations.
#[inline]
pub(super) fn normal_quantile(p: f64) -> f64 {
    let q = p - 0.5;
    if q.abs() <= 0.425 {
        let r = 0.180_625 - q * q;
        return q * ratio(r, &CENTRE);
    }
    let tail = if q < 0.0 { p } else { 1.0 - p };
    let r = (-libm::log(tail.max(SMALLEST_TAIL))).sqrt();
    let z = if r <= 5.0 {
        ratio(r - 1.6, &MIDDLE)
    } else {
        ratio(r - 5.0, &FAR)
    };
    if q < 0.0 { -z } else { z }
}

/// Numerator and denominator of a rational function, lowest power first.
type Rational = ([f64; 8], [f64; 8]);

#[inline]
fn ratio(x: f64, (above, below): &Rational) -> f64 {
    let horner = |c: &[f64; 8]| {
        ((((((c[7] * x + c[6]) * x + c[5]) * x + c[4]) * x + c[3]) * x + c[2]) * x + c[1]) * x
            + c[0]
    };
    horner(above) / horner(below)
}

const CENTRE: Rational = (
    [
        3.387_132_872_796_366_5,
        1.331_416_678_917_843_8e2,
        1.971_590_950_306_551_3e3,
        1.373_169_376_550_946e4,
        4.592_195_393_154_987e4,
        6.726_577_092_700_87e4,
        3.343_057_558_358_813e4,
        2.509_080_928_730_122_7e3,
    ],
    [
        1.0,
        4.231_333_070_160_091e1,
        6.871_870_074_920_579e2,
        5.394_196_021_424_751e3,
        2.121_379_430_158_659_7e4,
        3.930_789_580_009_271e4,
        2.872_908_573_572_194_3e4,
        5.226_495_278_852_854e3,
    ],
);

const MIDDLE: Rational = (
    [
        1.423_437_110_749_683_5,
        4.630_337_846_156_546,
        5.769_497_221_460_691,
        3.647_848_324_763_204_5,
        1.270_458_252_452_368_4,
        2.417_807_251_774_506e-1,
        2.272_384_498_926_918_4e-2,
        7.745_450_142_783_414e-4,
    ],
    [
        1.0,
        2.053_191_626_637_759,
        1.676_384_830_183_803_8,
        6.897_673_349_851e-1,
        1.481_039_764_274_800_8e-1,
        1.519_866_656_361_645_7e-2,
        5.475_938_084_995_345e-4,
        1.050_750_071_644_416_9e-9,
    ],
);

const FAR: Rational = (
    [
        6.657_904_643_501_103,
        5.463_784_911_164_114,
        1.784_826_539_917_291_3,
        2.965_605_718_285_048_7e-1,
        2.653_218_952_657_612_4e-2,
        1.242_660_947_388_078_4e-3,
        2.711_555_568_743_487_6e-5,
        2.010_334_399_292_288_1e-7,
    ],
    [
        1.0,
        5.998_322_065_558_88e-1,
        1.369_298_809_227_358e-1,
        1.487_536_129_085_061_5e-2,
        7.868_691_311_456_133e-4,
        1.846_318_317_510_054_8e-5,
        1.421_511_758_316_446e-7,
        2.044_263_103_389_939_8e-15,
    ],
);

/// The regularised lower incomplete gamma function: the distribution function of a gamma law with
/// this shape and scale 1.
///
/// Power series left of the mean, Legendre's continued fraction (modified Lentz) right of it.
pub(super) fn gamma_cdf(shape: f64, x: f64) -> f64 {
    if x.is_nan() || x <= 0.0 {
        return 0.0;
    }
    if x == f64::INFINITY {
        return 1.0;
    }
    // Both converge within a few times √shape terms; the bound is for shapes beyond any use.
    const TERMS: u32 = 100_000;
    let front = libm::exp(shape * libm::log(x) - x - libm::lgamma(shape));
    if x < shape + 1.0 {
        let mut term = 1.0 / shape;
        let mut sum = term;
        for n in 1..TERMS {
            term *= x / (shape + f64::from(n));
            sum += term;
            if term < sum * f64::EPSILON {
                break;
            }
        }
        return (sum * front).clamp(0.0, 1.0);
    }
    const TINY: f64 = 1e-300;
    let mut b = x + 1.0 - shape;
    let mut c = 1.0 / TINY;
    let mut d = 1.0 / b;
    let mut fraction = d;
    for n in 1..TERMS {
        let n = f64::from(n);
        let a = n * (shape - n);
        b += 2.0;
        d = a * d + b;
        d = 1.0 / if d.abs() < TINY { TINY } else { d };
        c = b + a / c;
        c = if c.abs() < TINY { TINY } else { c };
        fraction *= d * c;
        if (d * c - 1.0).abs() < f64::EPSILON {
            break;
        }
    }
    (1.0 - front * fraction).clamp(0.0, 1.0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use statrs::distribution::{ContinuousCDF, Gamma, Normal};

    #[test]
    fn the_normal_quantile_undoes_the_normal_cdf() {
        for n in -800..=800 {
            let z = f64::from(n) / 100.0;
            // Near 1 a probability cannot tell neighbours apart, so go by the shorter tail.
            let back = if z < 0.0 {
                normal_quantile(normal_cdf(z))
            } else {
                -normal_quantile(normal_cdf(-z))
            };
            assert!((back - z).abs() < 1e-12, "{z} came back as {back}");
        }
        assert_eq!(normal_quantile(0.5), 0.0);
        assert!((normal_quantile(0.99) - 2.326_347_874_040_841).abs() < 1e-14);
    }

    #[test]
    fn the_ends_of_the_normal_quantile_are_finite() {
        assert!((normal_quantile(0.0) + 8.29).abs() < 0.01);
        assert_eq!(normal_quantile(1.0), -normal_quantile(0.0));
    }

    #[test]
    fn the_distribution_functions_agree_with_another_library() {
        let normal = Normal::standard();
        for n in -60..=60 {
            let z = f64::from(n) / 10.0;
            assert!(
                (normal_cdf(z) - normal.cdf(z)).abs() < 1e-10,
                "normal at {z}"
            );
        }
        for shape in [0.3, 1.0, 2.5, 30.0, 400.0] {
            let gamma = Gamma::new(shape, 1.0).unwrap();
            for n in 1..40 {
                let x = shape * f64::from(n) / 10.0;
                let difference = gamma_cdf(shape, x) - gamma.cdf(x);
                assert!(
                    difference.abs() < 1e-9,
                    "gamma {shape} at {x}: {difference}"
                );
            }
        }
    }
}
