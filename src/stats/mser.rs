//! Where the start-up of a run ends.

/// Observations that make one batch.
pub const BATCH: usize = 5;
/// With fewer batches than this nothing can be said.
pub const BATCHES_MIN: usize = 10;

/// Where the start-up of a series ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Truncation {
    /// Observations to leave out at the start, a multiple of [`BATCH`].
    pub leave_out: usize,
    /// Whether that is in the first half, and not the most that was considered. If not, the series is still on its
    /// way, or too short to tell.
    pub settled: bool,
}

/// MSER-5: leaves out as much at the start as makes the standard error of the mean of the rest smallest.
///
/// Means of five observations each, `Z₁ … Z_k`, and of all `d` the one with the least
/// `Σ_{j>d} (Z_j − mean(Z_{d+1} … Z_k))² ÷ (k − d)²`; the smallest of equal ones. The last five batches are not
/// considered, since few values are close to each other by chance. A minimum in the second half is no answer, nor is one
/// at the end of what was considered
/// (White, *Simulation* 69(6), 1997; White, Cobb and Spratt, WSC 2000; Hoad, Robinson and Davies, JORS 61, 2010).
///
/// `None` with fewer than 50 observations.
#[must_use]
pub fn mser5(values: &[f64]) -> Option<Truncation> {
    let batches = batch_means(values);
    let k = batches.len();
    if k < BATCHES_MIN {
        return None;
    }
    // From the end: mean and sum of squares of what is left (Welford), so that all d take one pass.
    let (mut mean, mut squares) = (0.0, 0.0);
    let (mut best, mut least) = (0, f64::INFINITY);
    for d in (0..k).rev() {
        let left = (k - d) as f64;
        let off = batches[d] - mean;
        mean += off / left;
        squares += off * (batches[d] - mean);
        let error = squares / (left * left);
        if k - d > BATCH && error <= least {
            (best, least) = (d, error);
        }
    }
    Some(Truncation {
        leave_out: best * BATCH,
        settled: 2 * best <= k && best + BATCH + 1 < k,
    })
}

/// Means of five each; what is left at the end is dropped.
fn batch_means(values: &[f64]) -> Vec<f64> {
    let batches = values.chunks_exact(BATCH);
    batches
        .map(|batch| batch.iter().sum::<f64>() / BATCH as f64)
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Each value five times: batches are these values.
    fn batched(means: &[f64]) -> Vec<f64> {
        means.iter().flat_map(|m| [*m; BATCH]).collect()
    }

    /// By hand: nothing left out gives Σ(Z − 5/3)² ÷ 12² = 0.1991, one batch 0.0676, two 0, and so do more.
    #[test]
    fn what_is_left_out_makes_the_error_smallest() {
        let mut means = vec![6.0, 4.0];
        means.extend([1.0; 10]);
        let found = mser5(&batched(&means)).expect("twelve batches");
        assert_eq!((found.leave_out, found.settled), (10, true));
    }

    /// The definition, term by term.
    fn by_definition(z: &[f64]) -> usize {
        let error = |d: usize| {
            let rest = &z[d..];
            let mean = rest.iter().sum::<f64>() / rest.len() as f64;
            let squares: f64 = rest.iter().map(|x| (x - mean) * (x - mean)).sum();
            squares / (rest.len() * rest.len()) as f64
        };
        let last = z.len() - BATCH - 1;
        (0..=last)
            .min_by(|a, b| error(*a).total_cmp(&error(*b)))
            .expect("not empty")
    }

    #[test]
    fn one_pass_finds_what_the_definition_says() {
        let mut state = 1u64;
        let mut noise = move || {
            state = state
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1);
            (state >> 40) as f64 / (1u64 << 24) as f64
        };
        for start in 0..40 {
            let rising = |i: usize| {
                if i < start {
                    i as f64 / start as f64
                } else {
                    1.0
                }
            };
            let z: Vec<f64> = (0..60).map(|i| rising(i) * 10.0 + noise()).collect();
            let found = mser5(&batched(&z)).expect("sixty batches");
            assert_eq!(
                found.leave_out,
                by_definition(&z) * BATCH,
                "start-up of {start}"
            );
            assert_eq!(found.settled, found.leave_out / BATCH <= 30);
        }
    }

    #[test]
    fn a_series_that_is_still_on_its_way_has_not_settled() {
        let rising: Vec<f64> = (0..400).map(f64::from).collect();
        for observations in [50, 60, 65, 100, 400] {
            let found = mser5(&rising[..observations]).expect("long enough");
            assert!(!found.settled, "{observations} observations");
        }
        let level = mser5(&[3.0; 400]).expect("long enough");
        assert_eq!((level.leave_out, level.settled), (0, true));
    }

    /// How often a steady series of independent values is refused, of 2000: about 8 in 100 with 24 batches, 1 in
    /// 100 with 100. Bounds are four standard deviations of a binomial wide.
    #[test]
    fn a_steady_series_is_seldom_refused_when_it_is_long() {
        let mut state = 7u64;
        let mut normal = move || {
            let uniform = |state: &mut u64| {
                *state = state
                    .wrapping_mul(6_364_136_223_846_793_005)
                    .wrapping_add(1);
                (*state >> 40) as f64 / (1u64 << 24) as f64
            };
            (0..12).map(|_| uniform(&mut state)).sum::<f64>()
        };
        for (batches, bounds) in [(24, 120..=220), (100, 4..=36)] {
            let refused = (0..2000)
                .filter(|_| {
                    let means: Vec<f64> = (0..batches).map(|_| normal()).collect();
                    !mser5(&batched(&means)).expect("long enough").settled
                })
                .count();
            assert!(
                bounds.contains(&refused),
                "{refused} with {batches} batches"
            );
        }
    }

    #[test]
    fn fifty_observations_are_the_least() {
        assert_eq!(mser5(&[1.0; 49]), None);
        assert!(mser5(&[1.0; 50]).is_some());
    }
}
