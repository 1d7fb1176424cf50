//! Laws given by a table of percentiles.

use seawall::Span;

/// A distribution known by some of its quantiles.
///
/// Between two given quantiles lengths are spread evenly (the quantile function is a straight line).
/// The ends are flat: what lies below the first given quantile has the first value, what lies above
/// the last has the last. So nothing outside the table ever comes out, and a table of p50, p90 and
/// p99 has its minimum at p50 and its maximum at p99; give the quantiles 0 and 1 to say otherwise.
#[derive(Clone, Debug, PartialEq)]
pub struct Empirical {
    /// (quantile, nanoseconds), both never descending; quantiles in `[0, 1]`; not empty.
    points: Vec<(f64, f64)>,
}

impl Empirical {
    pub(super) fn new(pairs: &[(f64, Span)]) -> Result<Empirical, String> {
        if pairs.is_empty() {
            return Err("a percentile table needs at least one row".to_owned());
        }
        if let Some((q, _)) = pairs.iter().find(|(q, _)| !(0.0..=1.0).contains(q)) {
            return Err(format!("a quantile must be in 0 to 1, not {q}"));
        }
        let mut points = pairs.to_vec();
        points.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
        for pair in points.windows(2) {
            let ((q0, v0), (q1, v1)) = (pair[0], pair[1]);
            if v0 > v1 {
                return Err(format!(
                    "quantile {q1} is {v1}, below quantile {q0} with {v0}"
                ));
            }
        }
        let points = points.into_iter().map(|(q, v)| (q, v.0 as f64)).collect();
        Ok(Empirical { points })
    }

    /// From single values: the smallest is quantile 0, the largest quantile 1, the others evenly in
    /// between (Hyndman and Fan's type 7).
    pub(super) fn of_values(values: &[Span]) -> Result<Empirical, String> {
        let mut sorted = values.to_vec();
        sorted.sort();
        let steps = (sorted.len().max(2) - 1) as f64;
        let pairs: Vec<(f64, Span)> = sorted
            .iter()
            .enumerate()
            .map(|(n, value)| (n as f64 / steps, *value))
            .collect();
        Empirical::new(&pairs)
    }

    /// The table: (quantile, length), ascending.
    pub fn table(&self) -> impl Iterator<Item = (f64, Span)> {
        self.points.iter().map(|(q, v)| (*q, Span(*v as u64)))
    }

    pub(super) fn inverse(&self, q: f64) -> f64 {
        let after = self.points.partition_point(|(at, _)| *at <= q);
        let (q0, v0) = self.points[after.max(1) - 1];
        match self.points.get(after) {
            Some(&(q1, v1)) if after > 0 => v0 + (v1 - v0) * ((q - q0) / (q1 - q0)),
            _ => v0,
        }
    }

    pub(super) fn cdf(&self, x: Span) -> f64 {
        let x = x.0 as f64;
        let after = self.points.partition_point(|(_, v)| *v <= x);
        if after == 0 {
            return 0.0;
        }
        let (q0, v0) = self.points[after - 1];
        match self.points.get(after) {
            Some(&(q1, v1)) => q0 + (q1 - q0) * ((x - v0) / (v1 - v0)),
            None => 1.0,
        }
    }

    /// The n-th raw moment in nanoseconds, n = 1 or 2.
    pub(super) fn moment(&self, n: u32) -> f64 {
        let power = |v: f64| if n == 1 { v } else { v * v };
        let (first, last) = (self.points[0], self.points[self.points.len() - 1]);
        let between: f64 = self
            .points
            .windows(2)
            .map(|pair| {
                let ((q0, a), (q1, b)) = (pair[0], pair[1]);
                // Moments of the uniform law on [a, b].
                let mean = if n == 1 {
                    (a + b) / 2.0
                } else {
                    (a * a + a * b + b * b) / 3.0
                };
                (q1 - q0) * mean
            })
            .sum();
        first.0 * power(first.1) + between + (1.0 - last.0) * power(last.1)
    }

    pub(super) fn map(&self, change: impl Fn(Span) -> Span) -> Empirical {
        Empirical {
            points: self
                .points
                .iter()
                .map(|(q, v)| (*q, change(Span(*v as u64)).0 as f64))
                .collect(),
        }
    }
}
