//! Legs that take time, and may fail.

use seawall::{CallKey, Failure, FailureKind, Phase};

use super::{IN_USE, TripId};
use crate::event::Event;
use crate::metrics::{Leg, LegRecord};
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

impl World {
    /// A trip comes to a leg; the time in the one before is counted.
    pub(super) fn comes_to(&mut self, id: TripId, leg: Leg) {
        self.leaves_leg(id);
        let now = self.now;
        let state = self.passages.as_deref_mut().expect(IN_USE);
        if let Some(trip) = state.trips.get_mut(id) {
            state.count[trip.subject as usize].entered[leg as usize] += 1;
            (trip.leg, trip.since, trip.fate) = (leg, now, None);
        }
    }

    /// The leg that a trip is in is over; its time is counted.
    pub(super) fn leaves_leg(&mut self, id: TripId) {
        let now = self.now;
        let state = self.passages.as_deref_mut().expect(IN_USE);
        let Some(trip) = state.trips.get(id) else {
            return;
        };
        let took = now.since(trip.since).0;
        state.count[trip.subject as usize].leg_ns[trip.leg as usize] += u128::from(took);
        if let Some(log) = &mut self.recorder.log
            && took > 0
        {
            log.legs.push(LegRecord {
                exchange: log.exchanges.len(),
                call: CallKey(trip.caller.bits()),
                attempt: trip.attempt,
                leg: trip.leg,
                from: trip.since,
                to: now,
            });
        }
    }

    /// A trip comes to a leg with a rule of its own, or passes it where there is none.
    pub(super) fn enter(&mut self, id: TripId, leg: Leg) -> Entered {
        let now = self.now;
        let Some(trip) = (self.passages.as_ref()).and_then(|state| state.trips.get(id).copied())
        else {
            return Entered::Takes; // it is over
        };
        let site = self.sites[trip.site as usize];
        let phase: Phase = leg.phase();
        let kept = self.kept_addresses(&trip);
        if leg == Leg::Dns && kept.is_some() {
            return Entered::Passed;
        }
        let passage = self.scenario.links[site.link as usize].passage.clone();
        let rule = passage.as_deref().and_then(|passage| passage.phase(phase));
        let connects = leg == Leg::Connect && (rule.is_some() || trip.pool.is_some());
        // Somebody who does not answer does not refuse either.
        let service = &self.services[site.service as usize];
        let elsewhere = self.goes_to_a_replica(&trip) && service.is_elsewhere(trip.replica, kept);
        let nobody = connects && (service.out || elsewhere);
        let refused = connects && !nobody && self.refuses(site.service, trip.replica, &trip);
        if let (Leg::Dns, Some(pool), Some(state)) = (leg, trip.pool, self.passages.as_deref_mut())
        {
            state.pools.resolved(pool, now);
        }
        if rule.is_none() && !nobody && !refused {
            return Entered::Passed;
        }
        self.comes_to(id, leg);
        let state = self.passages.as_deref_mut().expect(IN_USE);
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

    /// When the addresses were asked for that a trip uses, if its process keeps any.
    fn kept_addresses(&self, trip: &super::Trip) -> Option<seawall::Time> {
        let state = self.passages.as_deref()?;
        state.pools.addresses(trip.pool?, self.now)
    }

    fn goes_to_a_replica(&self, trip: &super::Trip) -> bool {
        let pool = trip.pool.zip(self.passages.as_ref());
        pool.is_some_and(|(pool, state)| state.pools.rule(pool).to_replicas)
    }

    /// Whether whoever is called lets nobody in.
    fn refuses(&self, service: u32, replica: u32, trip: &super::Trip) -> bool {
        let service_state = &self.services[service as usize];
        service_state.refusing || (self.goes_to_a_replica(trip) && !service_state.is_up(replica))
    }
}
