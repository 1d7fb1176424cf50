//! Plain sums over a series of values of one run. No claim about their independence is made here.

/// The arithmetic mean; NaN of nothing.
#[must_use]
pub fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len() as f64
}

/// The mean of the squares.
#[must_use]
pub fn second_moment(values: &[f64]) -> f64 {
    values.iter().map(|x| x * x).sum::<f64>() / values.len() as f64
}

/// The sample variance, with `n − 1`; NaN of fewer than two.
#[must_use]
pub fn variance(values: &[f64]) -> f64 {
    let mean = mean(values);
    let squares: f64 = values.iter().map(|x| (x - mean) * (x - mean)).sum();
    squares / (values.len() as f64 - 1.0)
}

/// The squared coefficient of variation: variance ÷ mean².
#[must_use]
pub fn scv(values: &[f64]) -> f64 {
    let mean = mean(values);
    variance(values) / (mean * mean)
}

/// The correlation of each value with the one after it.
#[must_use]
pub fn lag1_autocorrelation(values: &[f64]) -> f64 {
    let mean = mean(values);
    let products: f64 = values
        .windows(2)
        .map(|pair| (pair[0] - mean) * (pair[1] - mean))
        .sum();
    let squares: f64 = values.iter().map(|x| (x - mean) * (x - mean)).sum();
    products / squares
}

/// The `q` quantile, by the median-unbiased rule (Hyndman and Fan 1996, type 8): between the order
/// statistics around `(n + 1/3) q + 1/3`. Sorts partly in place; NaN of nothing.
pub fn quantile(values: &mut [f64], q: f64) -> f64 {
    let n = values.len();
    if n == 0 {
        return f64::NAN;
    }
    let place = (n as f64 + 1.0 / 3.0) * q + 1.0 / 3.0 - 1.0;
    let place = place.clamp(0.0, (n - 1) as f64);
    let below = place.floor() as usize;
    let (_, low, above) = values.select_nth_unstable_by(below, f64::total_cmp);
    let low = *low;
    match above.iter().copied().min_by(f64::total_cmp) {
        Some(high) => low + (high - low) * (place - below as f64),
        None => low,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn moments_of_one_to_five() {
        let values = [1.0, 2.0, 3.0, 4.0, 5.0];
        assert_eq!(mean(&values), 3.0);
        assert_eq!(variance(&values), 2.5);
        assert_eq!(second_moment(&values), 11.0);
        assert!((scv(&values) - 2.5 / 9.0).abs() < 1e-15);
        // Deviations −2 … 2: products 2 + 0 + 0 + 2, squares 10.
        assert!((lag1_autocorrelation(&values) - 0.4).abs() < 1e-15);
    }

    #[test]
    fn quantiles_are_those_of_type_8() {
        // R: quantile(1:9, c(0, .25, .5, .9, 1), type = 8).
        let expected = [
            (0.0, 1.0),
            (0.25, 2.666_666_666_666_667),
            (0.5, 5.0),
            (0.9, 8.733_333_333_333_333),
            (1.0, 9.0),
        ];
        for (q, value) in expected {
            let mut values = [9.0, 1.0, 8.0, 2.0, 7.0, 3.0, 6.0, 4.0, 5.0];
            assert!((quantile(&mut values, q) - value).abs() < 1e-12, "{q}");
        }
        assert!(quantile(&mut [], 0.5).is_nan());
    }
}
