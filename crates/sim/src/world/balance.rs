//! How an attempt finds its replica.

use super::job::{Job, NOWHERE};
use super::service::ServiceState;
use crate::scenario::model::Balance;

impl ServiceState {
    /// One of all replicas.
    #[inline]
    pub(super) fn pick(&mut self) -> u32 {
        match self.replicas.len() {
            1 => 0,
            n => self.pick_among(n as u32, &[]),
        }
    }

    /// One of `n`: of those listed, if any are.
    pub(super) fn pick_among(&mut self, n: u32, listed: &[u32]) -> u32 {
        let at = |r: u32| listed.get(r as usize).copied().unwrap_or(r);
        let load = |r: u32| self.replicas[at(r) as usize].inside;
        let pick = match self.balance {
            Balance::RoundRobin => {
                let pick = self.next_replica % n;
                self.next_replica = (pick + 1) % n;
                pick
            }
            Balance::Random => self.assign.below(u64::from(n)) as u32,
            Balance::LeastInFlight => (0..n).min_by_key(|&r| load(r)).unwrap_or(0),
            Balance::PowerOfTwo => {
                let a = self.assign.below(u64::from(n)) as u32;
                // The second is drawn among the others.
                let b = (a + 1 + self.assign.below(u64::from(n - 1)) as u32) % n;
                if load(b) < load(a) { b } else { a }
            }
        };
        at(pick)
    }

    /// Sees that a job has a replica.
    #[inline]
    pub(super) fn choose(&mut self, job: &mut Job) {
        if job.replica == NOWHERE {
            job.replica = self.pick();
        }
    }

    /// A replica for a caller that passes over some of them; if it would pass over all, any that requests are given to.
    #[cold]
    pub(super) fn pick_passing_over(&mut self, admits: impl Fn(u32) -> bool) -> u32 {
        self.with_rotation(|state, rotation| state.pick_in(rotation, admits))
    }

    fn pick_in(&mut self, rotation: Option<&[u32]>, admits: impl Fn(u32) -> bool) -> u32 {
        let stands =
            |replica: &u32| rotation.is_none_or(|list| list.binary_search(replica).is_ok());
        let admits = |replica: &u32| admits(*replica) && stands(replica);
        let n = self.replicas.len() as u32;
        let fit = (0..n).filter(admits).count() as u32;
        if fit == 0
            && let Some(list) = rotation.filter(|list| !list.is_empty())
        {
            return self.pick_among(list.len() as u32, list);
        }
        if fit == 0 || fit == n {
            return self.pick();
        }
        let load = |replica: u32| self.replicas[replica as usize].inside;
        let mut fitting = (0..n).filter(admits);
        match self.balance {
            Balance::RoundRobin => loop {
                let pick = self.pick();
                if admits(&pick) {
                    return pick;
                }
            },
            Balance::LeastInFlight => fitting.min_by_key(|&replica| load(replica)).unwrap_or(0),
            Balance::Random => {
                let nth = self.assign.below(u64::from(fit)) as usize;
                fitting.nth(nth).unwrap_or(0)
            }
            Balance::PowerOfTwo => {
                let a = self.assign.below(u64::from(fit)) as u32;
                let b = match fit {
                    1 => a,
                    _ => (a + 1 + self.assign.below(u64::from(fit - 1)) as u32) % fit,
                };
                let one = fitting.clone().nth(a as usize).unwrap_or(0);
                let other = fitting.nth(b as usize).unwrap_or(0);
                if load(other) < load(one) { other } else { one }
            }
        }
    }
}
