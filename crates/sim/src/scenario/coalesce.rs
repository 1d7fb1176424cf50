//! Identical calls under way at once that share one.
//!
//! A scenario without `coalesce` has none of this ([`Scenario::coalescing`](super::model::Scenario)).

use super::model::Scenario;

/// What is asked for by the calls of one step.
#[derive(Clone, Debug, PartialEq)]
pub struct Wanted {
    /// The call step.
    pub site: u32,
    /// By thing: the share of calls that ask for it or one before it; ends with 1.
    pub upto: Vec<f64>,
}

/// Every call step whose calls may share.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Coalescing {
    /// In the order of the programs.
    pub wanted: Vec<Wanted>,
}

impl Scenario {
    /// `caller -> service`, and a number where a caller has several such steps: in reports, and of a stream.
    #[must_use]
    pub fn shared_name(&self, index: usize) -> String {
        let all = self.coalescing.iter().flat_map(|used| &used.wanted);
        let edge = |wanted: &Wanted| self.sites[wanted.site as usize].edge as usize;
        let edges: Vec<usize> = all.map(edge).collect();
        let name = self.edge_stream_name(edges[index]);
        let twins = edges[..index].iter().filter(|edge| **edge == edges[index]);
        match twins.count() {
            0 => name,
            n => format!("{name}, step {}", n + 1),
        }
    }
}

impl Coalescing {
    /// `keys` things of which the `n`-th is asked for in proportion to 1 / n^`skew` (Zipf's law).
    pub(crate) fn add(&mut self, site: u32, keys: u32, skew: f64) {
        let upto = popularity(keys, skew);
        self.wanted.push(Wanted { site, upto });
    }
}

/// By thing: the share of wishes for it or one before it, where the `n`-th is asked for in proportion to 1 / n^`skew` (Zipf's
/// law); ends with 1.
pub(crate) fn popularity(keys: u32, skew: f64) -> Vec<f64> {
    let weight = |n: u32| libm::exp(-skew * libm::log(f64::from(n)));
    let sum: f64 = (1..=keys).map(weight).sum();
    let mut so_far = 0.0;
    let mut upto: Vec<f64> = Vec::with_capacity(keys as usize);
    for n in 1..=keys {
        so_far += weight(n);
        upto.push(so_far / sum);
    }
    if let Some(last) = upto.last_mut() {
        *last = 1.0;
    }
    upto
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn things_are_wanted_by_zipfs_law() {
        let mut all = Coalescing::default();
        all.add(0, 3, 1.0);
        all.add(1, 4, 0.0);
        let close = |a: f64, b: f64| (a - b).abs() < 1e-12;
        // 1, 1/2 and 1/3 of 11/6.
        let upto = &all.wanted[0].upto;
        assert!(close(upto[0], 6.0 / 11.0) && close(upto[1], 9.0 / 11.0) && upto[2] == 1.0);
        assert_eq!(all.wanted[1].upto, [0.25, 0.5, 0.75, 1.0]);
    }
}
