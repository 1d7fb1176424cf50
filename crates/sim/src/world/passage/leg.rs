//! Legs that take time, and may fail.

use seawall::{Failure, FailureKind, Phase};

use super::{IN_USE, PassageState, TripId};
use crate::event::Event;
use crate::metrics::Leg;
use crate::queue::Rank;
use crate::world::World;

/// What becomes of a trip that has come to a leg.
pub(super) enum Entered {
    /// It takes no time.
    Passed,
    /// It takes time; an event says when it is over.
    Takes,
    /// It fails at once.
    Fails(Failure),
}

impl PassageState {
    /// A trip comes to a leg; the time in the one before is counted.
    pub(super) fn comes_to(&mut self, id: TripId, leg: Leg, now: seawall::Time) {
        let Some(trip) = self.trips.get_mut(id) else {
            return;
        };
        let count = &mut self.count[trip.subject as usize];
        count.leg_ns[trip.leg as usize] += u128::from(now.since(trip.since).0);
        count.entered[leg as usize] += 1;
        (trip.leg, trip.since, trip.fate) = (leg, now, None);
    }
}

impl World {
    /// A trip comes to a leg with a rule of its own, or passes it where there is none.
    pub(super) fn enter(&mut self, id: TripId, leg: Leg) -> Entered {
        let now = self.now;
        let Some(trip) = (self.passages.as_ref()).and_then(|state| state.trips.get(id).copied())
        else {
            return Entered::Takes; // it is over
        };
        let site = self.sites[trip.site as usize];
        let phase: Phase = leg.phase();
        let passage = self.scenario.links[site.link as usize].passage.as_deref();
        let rule = passage.and_then(|passage| passage.phase(phase));
        let connects = leg == Leg::Connect && (rule.is_some() || trip.pool.is_some());
        // Somebody who does not answer does not refuse either.
        let nobody = connects && self.services[site.service as usize].out;
        let refused = connects && !nobody && self.refuses(site.service, trip.replica, &trip);
        let state = self.passages.as_deref_mut().expect(IN_USE);
        if rule.is_none() && !nobody && !refused {
            return Entered::Passed;
        }
        state.comes_to(id, leg, now);
        let luck = &mut state.luck[trip.subject as usize];
        let mut takes = rule.map_or(seawall::Span::ZERO, |rule| rule.takes.sample(luck));
        let fails = rule.filter(|rule| rule.fails > 0.0 && luck.bernoulli(rule.fails));
        let fails = fails.map(|rule| rule.kind);
        let distrusted = leg == Leg::Tls && state.certificates_bad[site.service as usize];
        let mut fate = match (refused, distrusted) {
            (true, _) => Some(FailureKind::ConnectRefused),
            (_, true) => Some(FailureKind::Tls),
            _ => fails,
        };
        let timeout = rule.and_then(|rule| Some((rule.timeout?, rule.too_long)));
        match timeout {
            Some((most, too_long)) if nobody || takes > most => {
                (takes, fate) = (most, Some(too_long));
            }
            // It stays there until it is given up.
            None if nobody => return Entered::Takes,
            _ => {}
        }
        let fate = fate.map(|kind| Failure {
            phase,
            ..kind.into()
        });
        if takes == seawall::Span::ZERO {
            return fate.map_or(Entered::Passed, Entered::Fails);
        }
        if let Some(trip) = state.trips.get_mut(id) {
            trip.fate = fate;
        }
        let event = Event::Leg(id);
        self.queue.push(now.after(takes), Rank::Normal, event);
        Entered::Takes
    }

    /// Whether whoever is called lets nobody in.
    fn refuses(&self, service: u32, replica: u32, trip: &super::Trip) -> bool {
        let service_state = &self.services[service as usize];
        let pool = trip.pool.zip(self.passages.as_ref());
        let to_replica = pool.is_some_and(|(pool, state)| state.pools.rule(pool).to_replicas);
        service_state.refusing || (to_replica && !service_state.is_up(replica))
    }
}
