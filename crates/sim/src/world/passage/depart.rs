//! A request that is written goes out, and its answer comes home.

use seawall::{FailureKind, Reply, Span};

use super::{IN_USE, TripId};
use crate::event::Event;
use crate::metrics::Leg;
use crate::queue::Rank;
use crate::world::World;
use crate::world::job::A_JOB;
use crate::world::site::Way;

impl World {
    /// A trip's request is written.
    pub(super) fn depart(&mut self, id: TripId) -> Option<Event> {
        let now = self.now;
        self.comes_to(id, Leg::Server);
        let trip = *self.passages.as_deref()?.trips.get(id)?;
        if trip.lost {
            // Nobody will ever answer.
            self.forget_job(trip.job);
            return None;
        }
        let closes = self.closes_when_idle(&trip);
        let Some(closes) = closes else {
            self.log_departure(trip.caller, trip.job, trip.attempt);
            let event = Event::Deliver(trip.job);
            return self.by_link(trip.site, event);
        };
        let there = self.link_time(trip.site);
        let arrives = now.after(there);
        if arrives < closes {
            self.log_departure(trip.caller, trip.job, trip.attempt);
            self.queue
                .push(arrives, Rank::Normal, Event::Deliver(trip.job));
            return None;
        }
        // The service has closed the connection meanwhile, and says so.
        let home = self.link_time(trip.site);
        let state = self.passages.as_deref_mut().expect(IN_USE);
        if let Some(pool) = trip.pool {
            state.pools.count(pool).resets += 1;
        }
        if let Some(trip) = state.trips.get_mut(id) {
            trip.fate = Some(FailureKind::Reset.into());
        }
        let event = Event::Leg(id);
        self.queue.push(arrives.after(home), Rank::Normal, event);
        None
    }

    /// When the service closes the connection of a trip unless something comes on it.
    fn closes_when_idle(&mut self, trip: &super::Trip) -> Option<seawall::Time> {
        let state = self.passages.as_deref_mut()?;
        let idle = state.pools.rule(trip.pool?).server_idle_timeout?;
        let conn = state.pools.get(trip.conn)?;
        // Another attempt on it keeps it busy.
        (conn.streams == 1).then(|| conn.served.after(idle))
    }

    /// How long the link of a site takes this time.
    fn link_time(&mut self, site: u32) -> Span {
        let site = &self.sites[site as usize];
        let delay = &self.scenario.links[site.link as usize].delay;
        delay.sample(&mut self.edges[site.edge as usize].link)
    }

    /// Sends an event along the link of a site. `Some`: it follows at once.
    fn by_link(&mut self, site: u32, event: Event) -> Option<Event> {
        let state = self.passages.as_deref().expect(IN_USE);
        match state.sites[site as usize].expect(IN_USE).link {
            Way::Constant(lane) => self.queue.push_lane(lane, self.now, event),
            Way::Random => {
                let span = self.link_time(site);
                self.queue.push(self.now.after(span), Rank::Normal, event);
            }
            Way::Instant | Way::Staged => return Some(event),
        }
        None
    }

    /// Sends an event along the link of a site whose ways have more to them: an answer is not home when it has come
    /// over the link.
    #[cold]
    #[inline(never)]
    pub(in crate::world) fn travel_by_legs(&mut self, site: u32, event: Event) {
        let event = match event {
            Event::Answer(job) => self.answer_leaves(job).map_or(event, Event::Leg),
            other => other,
        };
        let at_once = self.by_link(site, event);
        self.soon.extend(at_once);
    }

    /// The answer of a job goes home; the trip it belongs to.
    fn answer_leaves(&mut self, job: crate::world::TaskId) -> Option<TripId> {
        let now = self.now;
        let state = self.passages.as_deref_mut().expect(IN_USE);
        let id = state.trip_of(job)?;
        let conn = state.trips.get(id)?.conn;
        if let Some(conn) = state.pools.get(conn) {
            conn.served = now;
            // Whoever refuses to take a request has not got one over a connection that is gone.
            let gone = conn.doomed.is_some();
            let job = self.tasks[job].job_mut().expect(A_JOB);
            if gone
                && let Reply::Failed(failure) = job.answer
                && failure.kind == FailureKind::ConnectRefused
            {
                job.answer = Reply::Failed(FailureKind::Reset.into());
            }
        }
        Some(id)
    }
}
