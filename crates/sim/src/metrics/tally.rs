//! Counting lengths of time by size: as much of a histogram as the running world needs.
//!
//! The buckets are those of HdrHistogram: `2^BITS` of width 1, then `2^(BITS - 1)` for each further
//! power of two, so a value is known to one part in `2^(BITS - 1)`. A tally keeps no total, no least and
//! no greatest value, since all three can be read off its buckets; recording is a shift, an addition
//! and an increment. At the end it becomes a [`Histogram`] of the same buckets without loss.
//!
//! What such an increment costs is the way to its memory. So `KINDS` tallies of related values share one
//! table, kind beside kind, and counts are short, with a list of those that ran over.

use hdrhistogram::Histogram;

/// Buckets looked at together when a quantile is wanted.
const STRETCH: usize = 64;

/// Counts of values by size, of several kinds. `BITS` 11 stands for three significant decimal digits, 8
/// for two.
#[derive(Clone, Debug)]
pub(crate) struct Tally<const BITS: u32, const KINDS: usize> {
    /// Ends with the bucket of the greatest value of any kind.
    counts: Vec<[u32; KINDS]>,
    /// Bucket and kind of each count that went round once.
    rounds: Vec<(usize, usize)>,
}

impl<const BITS: u32, const KINDS: usize> Tally<BITS, KINDS> {
    pub(crate) fn new() -> Self {
        Tally {
            counts: Vec::new(),
            rounds: Vec::new(),
        }
    }

    #[inline]
    fn bucket(value: u64) -> usize {
        // How many low bits are dropped: none for the buckets of width 1.
        let dropped = (64 - BITS) - (value | ((1 << BITS) - 1)).leading_zeros();
        ((dropped as usize) << (BITS - 1)) + (value >> dropped) as usize
    }

    /// The greatest value that falls into a bucket.
    fn greatest(bucket: usize) -> u64 {
        let dropped = (bucket >> (BITS - 1)).saturating_sub(1);
        let kept = (bucket - (dropped << (BITS - 1))) as u64;
        (kept << dropped) | ((1 << dropped) - 1)
    }

    #[inline]
    pub(crate) fn record(&mut self, value: u64, kind: usize) {
        self.record_as(value, [kind]);
    }

    /// Counts a value that is of several kinds at once.
    #[inline]
    pub(crate) fn record_as<const N: usize>(&mut self, value: u64, kinds: [usize; N]) {
        let bucket = Self::bucket(value);
        let Some(counts) = self.counts.get_mut(bucket) else {
            self.make_room(bucket);
            return self.record_as(value, kinds);
        };
        for kind in kinds {
            counts[kind] = counts[kind].wrapping_add(1);
            if counts[kind] == 0 {
                self.rounds.push((bucket, kind));
            }
        }
    }

    #[cold]
    fn make_room(&mut self, bucket: usize) {
        self.counts.resize(bucket + 1, [0; KINDS]);
    }

    /// Forgets everything but the room it took.
    pub(crate) fn clear(&mut self) {
        self.counts.clear();
        self.rounds.clear();
    }

    /// Calls `each` with the greatest value and the count of each bucket that has seen `kind`, in order.
    fn for_each(&self, kind: usize, mut each: impl FnMut(u64, u64)) {
        for bucket in 0..self.counts.len() {
            let count = self.count(bucket, kind);
            if count > 0 {
                each(Self::greatest(bucket), count);
            }
        }
    }

    fn count(&self, bucket: usize, kind: usize) -> u64 {
        let rounds = self.rounds.iter().filter(|&&r| r == (bucket, kind)).count();
        u64::from(self.counts[bucket][kind]) + ((rounds as u64) << 32)
    }

    /// The values that the given shares of all do not exceed, and the greatest value; `None` when nothing was
    /// recorded. `shares` must ascend.
    pub(crate) fn quantiles<const N: usize>(
        &self,
        kind: usize,
        shares: [f64; N],
    ) -> Option<([u64; N], u64)> {
        let last = self.counts.iter().rposition(|counts| counts[kind] > 0)?;
        let max = Self::greatest(last);
        let total: u64 = self.stretches(kind).map(|(_, sum)| sum).sum();
        let wanted = shares.map(|share| libm::ceil(share * total as f64) as u64);
        let (mut values, mut seen, mut found) = ([max; N], 0, 0);
        for (first, sum) in self.stretches(kind) {
            if found == N || seen + sum < wanted[found] {
                seen += sum;
                continue;
            }
            for bucket in first..(first + STRETCH).min(self.counts.len()) {
                seen += self.count(bucket, kind);
                while found < N && seen >= wanted[found] {
                    values[found] = Self::greatest(bucket);
                    found += 1;
                }
            }
        }
        Some((values, max))
    }

    /// The first bucket of each stretch, and how many values are in the stretch: most have none.
    fn stretches(&self, kind: usize) -> impl Iterator<Item = (usize, u64)> {
        let stretches = self.counts.chunks(STRETCH).enumerate();
        stretches.map(move |(i, counts)| {
            let first = i * STRETCH;
            let sum: u64 = counts.iter().map(|counts| u64::from(counts[kind])).sum();
            let over = (self.rounds.iter())
                .filter(|round| round.1 == kind && (first..first + STRETCH).contains(&round.0))
                .count();
            (first, sum + ((over as u64) << 32))
        })
    }

    /// Adds all that was counted to a histogram that has these buckets.
    pub(crate) fn add_to(&self, kind: usize, histogram: &mut Histogram<u64>) {
        self.for_each(kind, |value, count| {
            histogram
                .record_n(value, count)
                .expect("a histogram made by `new` grows as needed");
        });
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Values of every size.
    fn value() -> impl Strategy<Value = u64> {
        (any::<u64>(), 1..64u32).prop_map(|(bits, shift)| bits >> shift)
    }

    proptest! {
        #[test]
        fn a_tally_becomes_the_histogram_it_stands_for(values in prop::collection::vec(value(), 0..200)) {
            let mut tally = Tally::<11, 2>::new();
            let mut direct = Histogram::<u64>::new(3).expect("three digits");
            for &value in &values {
                tally.record(value, 0);
                tally.record(value / 2, 1);
                direct.record(value).expect("grows");
            }
            let mut made = Histogram::<u64>::new(3).expect("three digits");
            tally.add_to(0, &mut made);
            prop_assert_eq!(&made, &direct);
            prop_assert_eq!((made.min(), made.max()), (direct.min(), direct.max()));
        }

        #[test]
        fn quantiles_are_those_of_the_histogram(values in prop::collection::vec(value(), 0..200)) {
            let mut tally = Tally::<8, 1>::new();
            let mut direct = Histogram::<u64>::new(2).expect("two digits");
            for &value in &values {
                tally.record(value, 0);
                direct.record(value).expect("grows");
            }
            let expected = (!values.is_empty()).then(|| {
                let at = |q| direct.value_at_quantile(q);
                ([at(0.5), at(0.99)], direct.max())
            });
            prop_assert_eq!(tally.quantiles(0, [0.5, 0.99]), expected);
            tally.clear();
            prop_assert_eq!(tally.quantiles(0, [0.5]), None);
        }
    }

    #[test]
    fn a_count_that_runs_over_goes_on() {
        let mut tally = Tally::<8, 2>::new();
        tally.record(1000, 1);
        for count in &mut tally.counts {
            count[1] = count[1].wrapping_neg();
        }
        tally.record(1000, 1);
        tally.record(1000, 1);
        let mut seen = Vec::new();
        tally.for_each(1, |value, count| seen.push((value, count)));
        assert_eq!(seen, [(1003, (1 << 32) + 1)]);
    }
}
