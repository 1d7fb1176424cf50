//! How a trip comes by its connection, and what it does with it.

use seawall::Time;

use super::{IN_USE, PassageState, TripId};
use crate::event::Event;
use crate::metrics::Leg;
use crate::queue::Rank;
use crate::world::World;
use crate::world::job::{A_JOB, NOWHERE};
use crate::world::pool::{Closed, Taken};

/// Those who wait for connections to other replicas are passed over, but not endlessly many.
const LOOK: usize = 64;

impl World {
    /// A trip wants a connection. The leg that follows; `None`: it waits for one.
    pub(super) fn find_connection(&mut self, id: TripId) -> Option<Leg> {
        let now = self.now;
        let state = self.passages.as_deref_mut()?;
        let trip = *state.trips.get(id)?;
        let Some(pool) = trip.pool else {
            return Some(Leg::Dns); // one of its own
        };
        let rule = state.pools.rule(pool);
        let wait = rule.acquire_timeout;
        let replica = match rule.to_replicas {
            true => self.choose_replica(trip.job),
            false => 0,
        };
        self.comes_to(id, Leg::Pool);
        let state = self.passages.as_deref_mut().expect(IN_USE);
        state.pools.count(pool).wanted += 1;
        let taken = state.pools.take(pool, replica, now);
        let trip = state.trips.get_mut(id)?;
        trip.replica = replica;
        match taken {
            Taken::Open(conn) => {
                trip.conn = conn;
                state.pools.count(pool).reused += 1;
                return Some(Leg::Send);
            }
            Taken::New(conn) => {
                trip.conn = conn;
                return Some(Leg::Dns);
            }
            Taken::Nothing => {}
        }
        trip.waits = true;
        state.pools.count(pool).waited += 1;
        state.pools.waits(pool, id, now);
        if let Some(wait) = wait {
            let event = Event::WaitedForConnection(id);
            self.queue.push(now.after(wait), Rank::Normal, event);
        }
        None
    }

    /// The replica that a job is to go to.
    fn choose_replica(&mut self, id: crate::world::TaskId) -> u32 {
        let job = self.tasks[id].job_mut().expect(A_JOB);
        let service = &mut self.services[job.service as usize];
        if job.replica == NOWHERE {
            job.replica = service.pick_passing_over(|_| true);
        }
        job.replica
    }

    /// A trip has waited as long as it may, if it still does.
    pub(in crate::world) fn on_waited_for_connection(&mut self, id: TripId) -> Option<Event> {
        let now = self.now;
        let state = self.passages.as_deref_mut()?;
        let trip = state.trips.get(id).filter(|trip| trip.waits)?;
        let (pool, since) = (trip.pool?, trip.since);
        let rule = state.pools.rule(pool);
        let failure = rule.exhausted;
        if since.after(rule.acquire_timeout?) != now {
            return None;
        }
        state.pools.count(pool).timed_out += 1;
        self.fail_trip(id, failure)
    }

    /// The handshakes of a trip are over.
    pub(super) fn connected(&mut self, id: TripId) {
        let now = self.now;
        let state = self.passages.as_deref_mut().expect(IN_USE);
        let Some(trip) = state.trips.get(id).copied() else {
            return;
        };
        if let Some(pool) = trip.pool {
            state.pools.opened(trip.conn, now);
            self.serve_waiting(pool);
        }
        if let Some(entry) = self.first_entry(trip.site) {
            self.tasks[trip.job].begin_at(entry);
        }
    }

    /// A trip has its answer; its connection is free for others.
    pub(super) fn hang_up(&mut self, id: TripId) {
        let now = self.now;
        let state = self.passages.as_deref_mut().expect(IN_USE);
        let Some(trip) = state.trips.get_mut(id) else {
            return;
        };
        let conn = std::mem::replace(&mut trip.conn, crate::arena::Id::NONE);
        if let Some(pool) = trip.pool {
            state.pools.leaves(conn, now);
            self.serve_waiting(pool);
        }
    }

    /// Gives connections of a pool to those who wait, and sees to it that idle ones are closed in time.
    pub(in crate::world) fn serve_waiting(&mut self, pool: u32) {
        let now = self.now;
        let state = self.passages.as_deref_mut().expect(IN_USE);
        let to_replicas = state.pools.rule(pool).to_replicas;
        let mut at = 0;
        while at < LOOK
            && let Some(id) = state.pools.waiting(pool, at)
        {
            let waits = state.trips.get_mut(id).filter(|trip| trip.waits);
            let Some(trip) = waits else {
                state.pools.unqueue(pool, at);
                continue;
            };
            let conn = match state.pools.take(pool, trip.replica, now) {
                Taken::Nothing if to_replicas => {
                    at += 1;
                    continue;
                }
                Taken::Nothing => break,
                Taken::Open(conn) => {
                    state.pools.count(pool).reused += 1;
                    conn
                }
                Taken::New(conn) => conn,
            };
            trip.conn = conn;
            state.pools.unqueue(pool, at);
            state.waits_no_more(id, now);
            self.soon.push_back(Event::Leg(id));
        }
        if let Some(at) = state.pools.watch(pool, now) {
            self.queue
                .push(at, Rank::Normal, Event::IdleConnections(pool.into()));
        }
    }

    /// Some connections of a pool may have been idle too long.
    pub(in crate::world) fn on_idle_connections(&mut self, pool: u32) {
        let now = self.now;
        let state = self.passages.as_deref_mut().expect(IN_USE);
        if let Some(at) = state.pools.expire(pool, now) {
            self.queue
                .push(at, Rank::Normal, Event::IdleConnections(pool.into()));
        }
        self.serve_waiting(pool);
    }

    /// A replica has died: connections to it are gone, and so are those of its own process.
    #[cold]
    pub(in crate::world) fn lose_connections(&mut self, service: u32, replica: u32) {
        let now = self.now;
        let Some(state) = self.passages.as_deref_mut() else {
            return;
        };
        let touched = state.pools.lose_replica(service, replica, now);
        state.pools.lose_process(service, replica, now);
        for pool in touched {
            self.serve_waiting(pool);
        }
    }

    /// Somebody looks at the connections that are there from the start.
    pub(in crate::world) fn watch_warm_connections(&mut self) {
        let Some(state) = self.passages.as_deref_mut() else {
            return;
        };
        for pool in 0..state.pools.len() {
            if let Some(at) = state.pools.watch(pool, Time::ZERO) {
                self.queue
                    .push(at, Rank::Normal, Event::IdleConnections(pool.into()));
            }
        }
    }
}

impl PassageState {
    /// A trip has its connection, or is given up; its wait is counted.
    pub(super) fn waits_no_more(&mut self, id: TripId, now: Time) {
        let Some(trip) = self.trips.get_mut(id).filter(|trip| trip.waits) else {
            return;
        };
        trip.waits = false;
        let (since, pool) = (trip.since, trip.pool);
        if let Some(pool) = pool {
            self.pools.waits_no_more(pool, now);
            self.pools.count(pool).wait_ns += u128::from(now.since(since).0);
        }
    }

    /// A trip is over before it was done with its connection. `breaks`: the connection is of no use any more.
    pub(super) fn drop_connection(&mut self, id: TripId, why: Closed, now: Time) {
        let Some(trip) = self.trips.get(id).copied() else {
            return;
        };
        let Some(pool) = trip.pool else { return };
        let streams = self.pools.rule(pool).streams;
        let Some(conn) = self.pools.get(trip.conn) else {
            return;
        };
        let unused = trip.leg == Leg::Pool && conn.is_open();
        // One of several streams can be given up alone.
        let alone = streams > 1 && conn.is_open() && why == Closed::GivenUp;
        if unused || alone {
            return self.pools.leaves(trip.conn, now);
        }
        match conn.streams {
            1 => self.pools.close(trip.conn, why, now),
            _ => {
                self.pools.retire(trip.conn, why, now);
                self.pools.leaves(trip.conn, now);
            }
        }
    }
}
