//! The laws that such ways must keep.

use super::PassageState;
use crate::world::TaskId;

impl PassageState {
    /// The laws that are broken. `open`: whether a task waits for a call.
    pub(in crate::world) fn broken_laws(&self, open: impl Fn(TaskId) -> bool) -> Vec<String> {
        let mut broken = self.pools.broken_laws();
        let mut under_way = vec![0u64; self.count.len()];
        let mut so_far = vec![0u128; self.count.len()];
        let mut stray = 0;
        for (_, trip) in self.trips.iter() {
            under_way[trip.subject as usize] += 1;
            so_far[trip.subject as usize] += u128::from(trip.since.since(trip.began).0);
            stray += u64::from(!open(trip.caller));
        }
        for ((count, open), so_far) in self.count.iter().zip(under_way).zip(so_far) {
            if count.begun != count.ended + open {
                broken.push(format!(
                    "each attempt on its way ends once: {} set out, {} ended, {open} are open",
                    count.begun, count.ended
                ));
            }
            // One leg follows the other without a gap.
            let legs: u128 = count.leg_ns.iter().sum();
            if legs != count.total_ns + so_far {
                broken.push(format!(
                    "legs make up the way: they sum to {legs} ns, the attempts to {} and {so_far} of those open",
                    count.total_ns
                ));
            }
        }
        if stray > 0 {
            broken.push(format!(
                "an attempt on its way belongs to a call: {stray} belong to none"
            ));
        }
        broken
    }
}
