//! Connections: opened, shared, kept, closed. What attempts do with them is the business of [`super::passage`].

mod audit;
mod close;

use std::collections::VecDeque;

use seawall::{Span, Time};

use super::passage::TripId;
use crate::arena::{Arena, Id};
use crate::metrics::{Level, PoolCount};
use crate::scenario::model::Scenario;
use crate::scenario::passage::{PoolPlace, PoolRule};

pub(super) use close::Closed;

pub(super) type ConnId = Id<Conn>;

/// One connection, being opened or open.
#[derive(Clone, Copy, Debug)]
pub(super) struct Conn {
    /// Index into `Pools::pools`.
    pub(super) pool: u32,
    /// Where it ends; 0 where it ends at a balancer.
    pub(super) replica: u32,
    /// When its handshake was over; `None` before.
    born: Option<Time>,
    /// Attempts that use it.
    pub(super) streams: u32,
    /// Since when nobody does.
    idle_since: Time,
    /// When the service last had to do with it.
    pub(super) served: Time,
    /// Whether it is closed as soon as nobody uses it, since its other end is gone or it is old.
    pub(super) doomed: Option<Closed>,
    /// Whether it is in the list of those that can be used.
    listed: bool,
}

impl Conn {
    /// Whether its handshake is over.
    pub(super) fn is_open(&self) -> bool {
        self.born.is_some()
    }
}

/// The connections of one process.
#[derive(Clone, Debug, Default)]
struct Pool {
    /// Connections, those being opened included.
    open: u32,
    /// Of those, the ones being opened.
    opening: u32,
    /// By replica, where the rule asks for it.
    of_replica: Vec<u32>,
    /// Those with room for one more attempt, the one used last at the end.
    ready: Vec<ConnId>,
    /// Attempts that wait, longest first, and ids of such as were given up.
    waiting: VecDeque<TripId>,
    /// Whether somebody looks at idle connections in time.
    watched: bool,
    /// When it last asked for the addresses of the service.
    resolved: Option<Time>,
}

/// What all processes of a caller have together.
#[derive(Clone, Debug)]
struct Shared {
    place: PoolPlace,
    rule: PoolRule,
    /// Where the pools of its processes begin.
    first: u32,
    processes: u32,
    /// Replicas of the service.
    replicas: u32,
    /// Connections that are open, and in use; attempts that wait.
    open: Level,
    in_use: Level,
    waiting: Level,
    count: PoolCount,
}

/// All connections of a world.
#[derive(Clone, Debug)]
pub(super) struct Pools {
    conns: Arena<Conn>,
    pools: Vec<Pool>,
    /// By index in `Passages::pools`.
    shared: Vec<Shared>,
    /// Of which of those each pool is.
    of: Vec<u32>,
}

/// What there is for an attempt that wants a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Taken {
    /// One that is open.
    Open(ConnId),
    /// Room for a new one.
    New(ConnId),
    /// Nothing.
    Nothing,
}

impl Pools {
    pub(super) fn new(scenario: &Scenario, places: &[PoolPlace]) -> Pools {
        let mut all = Pools {
            conns: Arena::new(),
            pools: Vec::new(),
            shared: Vec::new(),
            of: Vec::new(),
        };
        for (index, place) in (0u32..).zip(places) {
            let processes = scenario.processes(place.caller);
            let passage = scenario.links[place.link as usize].passage.as_ref();
            let Some(rule) = passage.and_then(|passage| passage.pool.clone()) else {
                continue; // such a link has no place
            };
            let replicas = scenario.services[place.service as usize].replicas;
            let first = all.pools.len() as u32;
            let counted = match rule.per_replica {
                Some(_) => replicas as usize,
                None => 0,
            };
            for _ in 0..processes {
                all.pools.push(Pool {
                    of_replica: vec![0; counted],
                    ..Pool::default()
                });
                all.of.push(index);
            }
            all.shared.push(Shared {
                place: *place,
                rule,
                first,
                processes,
                replicas,
                open: Level::default(),
                in_use: Level::default(),
                waiting: Level::default(),
                count: PoolCount::default(),
            });
            for pool in first..first + processes {
                all.warm_up(pool, Time::ZERO);
            }
        }
        all
    }

    /// How many pools there are.
    pub(super) fn len(&self) -> u32 {
        self.pools.len() as u32
    }

    /// The first pool of a place; that of process `n` is the `n`-th after it.
    pub(super) fn first(&self, place: u32) -> u32 {
        self.shared[place as usize].first
    }

    /// What holds for a pool.
    pub(super) fn rule(&self, pool: u32) -> &PoolRule {
        &self.shared[self.of[pool as usize] as usize].rule
    }

    /// When a process asked for the addresses that it uses now; `None`: it has to ask, or keeps none.
    pub(super) fn addresses(&self, pool: u32, now: Time) -> Option<Time> {
        let ttl = self.rule(pool).dns_ttl?;
        let asked = self.pools[pool as usize].resolved?;
        (asked.after(ttl) > now).then_some(asked)
    }

    /// A process has the addresses from now on.
    pub(super) fn resolved(&mut self, pool: u32, now: Time) {
        self.pools[pool as usize].resolved = Some(now);
    }

    pub(super) fn get(&mut self, conn: ConnId) -> Option<&mut Conn> {
        self.conns.get_mut(conn)
    }

    fn shared(&mut self, pool: u32) -> &mut Shared {
        &mut self.shared[self.of[pool as usize] as usize]
    }

    pub(super) fn count(&mut self, pool: u32) -> &mut PoolCount {
        &mut self.shared(pool).count
    }

    /// Counts so far, by place.
    pub(super) fn counts(&mut self, now: Time) -> Vec<PoolCount> {
        let settled = self.shared.iter_mut().map(|shared| {
            let count = &mut shared.count;
            count.open_ns = shared.open.integral(now);
            count.in_use_ns = shared.in_use.integral(now);
            count.waiting_ns = shared.waiting.integral(now);
            count.time_ns = u128::from(now.0);
            count.clone()
        });
        settled.collect()
    }

    /// What connections and pools take.
    pub(super) fn bytes(&self) -> usize {
        let of = |pool: &Pool| {
            pool.ready.len() * size_of::<ConnId>() + pool.waiting.len() * size_of::<TripId>()
        };
        self.conns.bytes() + self.pools.iter().map(of).sum::<usize>()
    }

    /// Connections that are there when a process begins.
    fn warm_up(&mut self, pool: u32, now: Time) {
        let shared = self.shared(pool);
        let (warm, replicas) = (shared.rule.warm, shared.replicas);
        let to_replicas = shared.rule.to_replicas;
        for nth in 0..warm {
            let replica = if to_replicas { nth % replicas } else { 0 };
            if !self.has_room(pool, replica) {
                continue; // more than there may be to one replica
            }
            let conn = self.insert(pool, replica, now);
            self.count(pool).warm += 1;
            self.opened(conn, now);
            self.leaves(conn, now);
        }
    }

    fn insert(&mut self, pool: u32, replica: u32, now: Time) -> ConnId {
        let of = &mut self.pools[pool as usize];
        of.open += 1;
        of.opening += 1;
        if let Some(count) = of.of_replica.get_mut(replica as usize) {
            *count += 1;
        }
        self.shared(pool).in_use.rise(now);
        self.conns.insert(|| Conn {
            pool,
            replica,
            born: None,
            streams: 1,
            idle_since: now,
            served: now,
            doomed: None,
            listed: false,
        })
    }

    fn has_room(&self, pool: u32, replica: u32) -> bool {
        let (rule, of) = (self.rule(pool), &self.pools[pool as usize]);
        let there = of.of_replica.get(replica as usize).copied();
        rule.size.is_none_or(|size| of.open < size)
            && (rule.per_replica.zip(there)).is_none_or(|(most, there)| there < most)
    }

    /// A connection for an attempt to `replica`: one that is open, or room for a new one.
    pub(super) fn take(&mut self, pool: u32, replica: u32, now: Time) -> Taken {
        if let Some(conn) = self.take_open(pool, replica, now) {
            return Taken::Open(conn);
        }
        let rule = self.rule(pool);
        let (spare, size) = (rule.streams - 1, rule.size);
        let of = &self.pools[pool as usize];
        // Those being opened will have room for so many more.
        if u64::from(of.opening) * u64::from(spare) > of.waiting.len() as u64 {
            return Taken::Nothing;
        }
        if size.is_some_and(|size| of.open >= size) {
            self.make_room(pool, now);
        }
        if !self.has_room(pool, replica) {
            return Taken::Nothing;
        }
        self.count(pool).begun += 1;
        Taken::New(self.insert(pool, replica, now))
    }

    fn take_open(&mut self, pool: u32, replica: u32, now: Time) -> Option<ConnId> {
        let rule = self.rule(pool);
        let (to_replicas, streams) = (rule.to_replicas, rule.streams);
        let lifetime = rule.max_lifetime;
        let mut at = self.pools[pool as usize].ready.len();
        while at > 0 {
            at -= 1;
            let id = self.pools[pool as usize].ready[at];
            let conn = self.conns.get_mut(id)?;
            if to_replicas && conn.replica != replica {
                continue;
            }
            let old = |age: Span| conn.born.is_some_and(|born| born.after(age) <= now);
            if lifetime.is_some_and(old) {
                self.retire(id, Closed::Old, now);
                // What came behind it in the list has moved up.
                continue;
            }
            conn.streams += 1;
            let first = conn.streams == 1;
            if conn.streams == streams {
                conn.listed = false;
                self.pools[pool as usize].ready.remove(at);
            }
            if first {
                self.shared(pool).in_use.rise(now);
            }
            return Some(id);
        }
        None
    }

    /// The handshake of a connection is over.
    pub(super) fn opened(&mut self, id: ConnId, now: Time) {
        let Some(conn) = self.conns.get_mut(id) else {
            return;
        };
        (conn.born, conn.served) = (Some(now), now);
        let pool = conn.pool;
        self.pools[pool as usize].opening -= 1;
        let shared = self.shared(pool);
        shared.count.opened += 1;
        shared.open.rise(now);
        self.list(id);
    }

    /// An attempt is done with a connection, which can be used again.
    pub(super) fn leaves(&mut self, id: ConnId, now: Time) {
        let Some(conn) = self.conns.get_mut(id) else {
            return;
        };
        conn.streams -= 1;
        let (pool, idle) = (conn.pool, conn.streams == 0);
        if let Some(why) = conn.doomed.filter(|_| idle) {
            self.close(id, why, now);
            return;
        }
        if idle {
            conn.idle_since = now;
            self.shared(pool).in_use.fall(now);
        }
        self.list(id);
    }

    /// Puts a connection among those that can be used, if it can be.
    fn list(&mut self, id: ConnId) {
        let Some(conn) = self.conns.get(id) else {
            return;
        };
        let (pool, streams) = (conn.pool, conn.streams);
        let fit = conn.doomed.is_none() && streams < self.rule(pool).streams;
        if let Some(conn) = self.conns.get_mut(id)
            && fit
        {
            // One that was used comes last.
            let ready = &mut self.pools[pool as usize].ready;
            if std::mem::replace(&mut conn.listed, true) {
                ready.retain(|listed| *listed != id);
            }
            ready.push(id);
        }
    }

    /// An attempt waits for a connection from now on.
    pub(super) fn waits(&mut self, pool: u32, trip: TripId, now: Time) {
        self.pools[pool as usize].waiting.push_back(trip);
        self.shared(pool).waiting.rise(now);
    }

    /// One waits no longer; its id is passed over when it comes up.
    pub(super) fn waits_no_more(&mut self, pool: u32, now: Time) {
        self.shared(pool).waiting.fall(now);
    }

    /// The `at`-th of those that wait.
    pub(super) fn waiting(&self, pool: u32, at: usize) -> Option<TripId> {
        self.pools[pool as usize].waiting.get(at).copied()
    }

    /// Takes the `at`-th of those that wait out of the line.
    pub(super) fn unqueue(&mut self, pool: u32, at: usize) {
        self.pools[pool as usize].waiting.remove(at);
    }

    /// The pools of the places that are meant: those of all their processes, or that of one.
    fn pools_of(&self, process: Option<u32>, meant: impl Fn(&PoolPlace) -> bool) -> Vec<u32> {
        let places = self.shared.iter().filter(|shared| meant(&shared.place));
        let pools = places.flat_map(|shared| match process {
            None => shared.first..shared.first + shared.processes,
            Some(process) => shared.first + process..shared.first + process + 1,
        });
        pools.collect()
    }
}
