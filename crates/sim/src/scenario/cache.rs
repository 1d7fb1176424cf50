//! Caches with contents: what is asked of them, what they hold and for how long.
//!
//! A scenario without a `cache` step has none of this ([`Scenario::caches`](super::model::Scenario)).

use seawall::Span;

use super::coalesce::popularity;
use super::model::{Scenario, Service};

/// Entries of all caches together; about 300 megabytes of them.
const ENTRIES_MAX: u64 = 10_000_000;

/// One `cache` step.
#[derive(Clone, Debug, PartialEq)]
pub struct Cache {
    /// Index into `services`: whose step it is.
    pub service: u32,
    /// How many different things are asked for; 1 to 1 000 000.
    pub keys: u32,
    /// By thing: the share of look-ups that ask for it or one before it; ends with 1. Empty: all alike.
    pub upto: Vec<f64>,
    /// Entries that one cache has room for; at most `keys`.
    pub capacity: u32,
    /// How long an entry is good for; `None`: for ever.
    pub ttl: Option<Span>,
    /// Up to which part of `ttl` less an entry is good for, drawn evenly; 0 to 1.
    pub jitter: f64,
    /// Whether all replicas use one; otherwise each has its own.
    pub shared: bool,
    /// Whether those who miss what is being fetched wait for that.
    pub coalesce: bool,
    /// What becomes of an entry when fetching it fails.
    pub on_failure: OnFailure,
    /// Whether it is full of the most popular things at the start.
    pub filled: bool,
}

/// What becomes of an entry when fetching it fails, and of who asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OnFailure {
    /// The program fails; what others have stored meanwhile stays.
    Keep,
    /// The program fails, and what others have stored meanwhile is deleted.
    Delete,
    /// If there is an entry that is too old, the program goes on with that.
    Stale,
}

/// Every cache of a scenario.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Caches {
    /// In the order of the programs.
    pub all: Vec<Cache>,
}

impl Cache {
    /// The law by which things are asked for, `n`-th in proportion to 1 / n^`skew`.
    pub(crate) fn upto(keys: u32, skew: f64) -> Vec<f64> {
        match skew {
            0.0 => Vec::new(),
            skew => popularity(keys, skew),
        }
    }

    /// How many of it there are.
    #[must_use]
    pub fn places(&self, services: &[Service]) -> u32 {
        match self.shared {
            true => 1,
            false => services[self.service as usize].replicas,
        }
    }

    /// The share of look-ups that miss when it holds the most popular things that it has room for, and nothing expires: no
    /// cache of that size does better.
    #[must_use]
    pub fn misses_at_best(&self) -> f64 {
        match self.upto.get(self.capacity as usize - 1) {
            Some(upto) => 1.0 - upto,
            None => 1.0 - f64::from(self.capacity) / f64::from(self.keys),
        }
    }
}

impl Caches {
    /// The service of each, and whether all its replicas share it.
    pub(crate) fn names(&self) -> impl Iterator<Item = (u32, bool)> {
        self.all.iter().map(|cache| (cache.service, cache.shared))
    }

    /// Which of them is the first that there is no room for.
    pub(crate) fn too_large(&self, services: &[Service]) -> Option<(usize, String)> {
        let mut sum = 0;
        for (index, cache) in self.all.iter().enumerate() {
            let places = u64::from(cache.places(services));
            sum += places * u64::from(cache.capacity);
            if sum > ENTRIES_MAX {
                let capacity = cache.capacity;
                let message = format!(
                    "cache: {places} with room for {capacity} make more than {ENTRIES_MAX} entries in all"
                );
                return Some((index, message));
            }
        }
        None
    }
}

impl Scenario {
    /// The service, and a number where it has several `cache` steps: in reports.
    #[must_use]
    pub fn cache_name(&self, index: usize) -> String {
        let services: Vec<u32> = (self.caches.iter())
            .flat_map(|used| used.all.iter().map(|cache| cache.service))
            .collect();
        let own = services[index];
        let name = &self.services[own as usize].name;
        match services[..index].iter().filter(|one| **one == own).count() {
            0 => name.clone(),
            n => format!("{name}, cache {}", n + 1),
        }
    }

    /// What the random streams of a cache are named by.
    #[must_use]
    pub fn cache_stream_name(&self, index: usize) -> String {
        format!("cache of {}", self.cache_name(index))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn at_best_the_most_popular_things_are_there() {
        let cache = |upto, capacity| Cache {
            service: 0,
            keys: 4,
            upto,
            capacity,
            ttl: None,
            jitter: 0.0,
            shared: false,
            coalesce: false,
            on_failure: OnFailure::Keep,
            filled: false,
        };
        assert_eq!(cache(Vec::new(), 1).misses_at_best(), 0.75);
        assert_eq!(cache(Vec::new(), 4).misses_at_best(), 0.0);
        // 1, 1/2, 1/3 and 1/4 of 25/12: the first two have 18/25.
        let misses = cache(Cache::upto(4, 1.0), 2).misses_at_best();
        assert!((misses - 7.0 / 25.0).abs() < 1e-12, "{misses}");
    }
}
