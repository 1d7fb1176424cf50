//! Promises about the ways of attempts, about connections and tokens, about calls that share one, and about caches.

use super::{Kind, Metric};
use crate::metrics::{CacheCount, Counts, CredentialCount, Leg, PassageCount, PoolCount};
use crate::scenario::model::Scenario;

impl Metric {
    /// Whether it is of ways with phases or connections.
    pub(super) const fn of_ways(self) -> bool {
        matches!(self, Metric::PhaseTime | Metric::PhaseFailures)
            || self.of_pools()
            || self.of_credentials()
    }

    /// Whether it is of credentials.
    pub(super) const fn of_credentials(self) -> bool {
        matches!(
            self,
            Metric::Refreshes
                | Metric::RefreshesFailed
                | Metric::CredentialWaits
                | Metric::CredentialsRejected
        )
    }

    /// Whether it is of caches.
    pub(super) const fn of_caches(self) -> bool {
        matches!(
            self,
            Metric::HitRatio | Metric::Fetches | Metric::CacheWaits
        )
    }

    /// Whether it is of connections that are kept.
    pub(super) const fn of_pools(self) -> bool {
        matches!(
            self,
            Metric::ConnectionsOpened
                | Metric::ConnectionsReused
                | Metric::ConnectionsOpen
                | Metric::HandshakesFailed
                | Metric::PoolWaits
                | Metric::PoolTimeouts
                | Metric::ConnectionResets
        )
    }
}

/// What was measured of the calls over `edges`. `None`: nothing to measure.
pub(super) fn measured(
    metric: Metric,
    kind: Option<Kind>,
    scenario: &Scenario,
    counts: &Counts,
    edges: &[usize],
) -> Option<f64> {
    if metric.of_credentials() {
        return of_credentials(metric, scenario, counts, edges);
    }
    let ways = scenario.passages.as_deref()?;
    let mut legs = PassageCount::default();
    for (edge, count) in ways.edges.iter().zip(&counts.passages) {
        if edges.contains(&(*edge as usize)) {
            legs.add(count);
        }
    }
    let ratio = |part: u128, whole: u128| (whole > 0).then(|| part as f64 / whole as f64);
    let leg = match kind {
        Some(Kind::Leg(leg)) => Some(leg),
        _ => None,
    };
    match (metric, leg.map(|leg: Leg| leg as usize)) {
        (Metric::PhaseTime, Some(leg)) => {
            let mean = ratio(legs.leg_ns[leg], u128::from(legs.entered[leg]));
            return mean.map(|nanos| nanos / 1e9);
        }
        (Metric::PhaseTime, None) => {
            return ratio(legs.total_ns, u128::from(legs.ended)).map(|nanos| nanos / 1e9);
        }
        (Metric::PhaseFailures, Some(leg)) => return Some(legs.failed[leg] as f64),
        (Metric::PhaseFailures, None) => return Some(legs.failed.iter().sum::<u64>() as f64),
        _ => {}
    }
    let mut pools = PoolCount::default();
    let (mut open_ns, mut time_ns) = (0, 0);
    for (place, count) in ways.pools.iter().zip(&counts.pools) {
        let leads_there = |&edge: &usize| {
            let edge = scenario.edges[edge];
            (edge.caller, edge.service) == (place.caller, place.service)
        };
        if edges.iter().any(leads_there) {
            pools.add(count);
            open_ns += count.open_ns;
            time_ns = count.time_ns;
        }
    }
    match metric {
        Metric::ConnectionsOpen => ratio(open_ns, time_ns),
        Metric::ConnectionsOpened => Some(pools.opened as f64),
        Metric::ConnectionsReused => Some(pools.reused as f64),
        Metric::HandshakesFailed => Some(pools.failed as f64),
        Metric::PoolWaits => Some(pools.waited as f64),
        Metric::PoolTimeouts => Some(pools.timed_out as f64),
        _ => Some(pools.resets as f64),
    }
}

/// The same of the tokens of those who make these calls.
fn of_credentials(
    metric: Metric,
    scenario: &Scenario,
    counts: &Counts,
    edges: &[usize],
) -> Option<f64> {
    let used = scenario.credentials.as_deref()?;
    let mut sum = CredentialCount::default();
    for (refresh, count) in used.refreshes.iter().zip(&counts.credentials) {
        let own = |&edge: &usize| scenario.edges[edge].caller == refresh.caller;
        if edges.iter().any(own) {
            sum.add(count);
        }
    }
    Some(match metric {
        Metric::Refreshes => sum.asked,
        Metric::RefreshesFailed => sum.refused,
        Metric::CredentialWaits => sum.waited,
        _ => sum.rejected,
    } as f64)
}

/// Calls over `edges` that shared another.
pub(super) fn coalesced(scenario: &Scenario, counts: &Counts, edges: &[usize]) -> Option<f64> {
    let used = scenario.coalescing.as_deref()?;
    let own = |site: u32| edges.contains(&(scenario.sites[site as usize].edge as usize));
    let shared = used.wanted.iter().zip(&counts.shared);
    let shared = shared.filter(|(wanted, _)| own(wanted.site));
    Some(shared.map(|(_, count)| count.shared).sum::<u64>() as f64)
}

/// What was measured of the caches of a service. `None`: nobody looked anything up.
pub(super) fn of_caches(
    metric: Metric,
    scenario: &Scenario,
    counts: &Counts,
    service: u32,
) -> Option<f64> {
    let used = scenario.caches.as_deref()?;
    let mut sum = CacheCount::default();
    let caches = used.all.iter().zip(&counts.caches);
    caches
        .filter(|(cache, _)| cache.service == service)
        .for_each(|(_, count)| sum.add(count));
    match metric {
        Metric::Fetches => Some(sum.fetches as f64),
        Metric::CacheWaits => Some(sum.waits as f64),
        _ => (sum.lookups > 0).then(|| sum.hits as f64 / sum.lookups as f64),
    }
}
