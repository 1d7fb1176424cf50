//! How connections end.

use seawall::{Span, Time};

use super::{ConnId, Pools};
use crate::metrics::PoolCount;
use crate::scenario::model::Caller;

/// Why a connection is closed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::world) enum Closed {
    /// Idle for too long, as its caller sees it.
    Idle,
    /// Idle for too long, as the service sees it.
    ByServer,
    /// It has reached its greatest age.
    Old,
    /// One to another replica is wanted more.
    ForRoom,
    /// A process at one of its ends is gone.
    Lost,
    /// It broke.
    Broken,
    /// The attempt on it was given up.
    GivenUp,
}

impl PoolCount {
    fn of(&mut self, why: Closed) -> &mut u64 {
        match why {
            Closed::Idle => &mut self.closed_idle,
            Closed::ByServer => &mut self.closed_by_server,
            Closed::Old => &mut self.closed_old,
            Closed::ForRoom => &mut self.closed_for_room,
            Closed::Lost => &mut self.closed_lost,
            Closed::Broken => &mut self.closed_broken,
            Closed::GivenUp => &mut self.closed_given_up,
        }
    }
}

impl Pools {
    /// Closes a connection at once, whoever uses it. One that was being opened has failed.
    pub(in crate::world) fn close(&mut self, id: ConnId, why: Closed, now: Time) {
        let Some(&conn) = self.conns.get(id) else {
            return;
        };
        self.conns.remove(id);
        let pool = &mut self.pools[conn.pool as usize];
        pool.open -= 1;
        if conn.listed {
            pool.ready.retain(|listed| *listed != id);
        }
        if let Some(count) = pool.of_replica.get_mut(conn.replica as usize) {
            *count -= 1;
        }
        let opening = conn.born.is_none();
        pool.opening -= u32::from(opening);
        // One that waited to be idle before it was closed is counted in use until now.
        let used = conn.streams > 0 || conn.doomed.is_some();
        let shared = self.shared(conn.pool);
        if used {
            shared.in_use.fall(now);
        }
        match opening {
            true => shared.count.failed += 1,
            false => {
                *shared.count.of(why) += 1;
                shared.open.fall(now);
            }
        }
    }

    /// Lets nobody use a connection any more; it is closed when those who do are done.
    pub(in crate::world) fn retire(&mut self, id: ConnId, why: Closed, now: Time) {
        let Some(conn) = self.conns.get_mut(id) else {
            return;
        };
        if conn.streams == 0 {
            return self.close(id, why, now);
        }
        conn.doomed = Some(why);
        if std::mem::take(&mut conn.listed) {
            let ready = &mut self.pools[conn.pool as usize].ready;
            ready.retain(|listed| *listed != id);
        }
    }

    /// Closes the connection that has been idle longest, if any is.
    pub(super) fn make_room(&mut self, pool: u32, now: Time) {
        let ready = &self.pools[pool as usize].ready;
        let idle = |id: &&ConnId| (self.conns.get(**id)).is_some_and(|conn| conn.streams == 0);
        if let Some(&oldest) = ready.iter().find(idle) {
            self.close(oldest, Closed::ForRoom, now);
        }
    }

    /// How long a connection of a pool may be idle before it is closed and its caller knows, and why it is closed then.
    fn patience(&self, pool: u32) -> Option<(Span, Closed)> {
        let rule = self.rule(pool);
        let server = rule.server_idle_timeout.filter(|_| rule.notices_close);
        let own = rule.idle_timeout.map(|idle| (idle, Closed::Idle));
        let server = server.map(|idle| (idle, Closed::ByServer));
        match (own, server) {
            (Some(own), Some(server)) => Some(if server.0 < own.0 { server } else { own }),
            (own, server) => own.or(server),
        }
    }

    /// Closes the connections of a pool that have been idle too long. When to look again; `None`: none is idle.
    pub(in crate::world) fn expire(&mut self, pool: u32, now: Time) -> Option<Time> {
        let (patience, why) = self.patience(pool)?;
        let mut next = None;
        let mut at = 0;
        while let Some(&id) = self.pools[pool as usize].ready.get(at) {
            let conn = self.conns.get(id)?;
            let over = conn.idle_since.after(patience);
            if conn.streams > 0 {
                at += 1;
            } else if over <= now {
                self.close(id, why, now);
            } else {
                next = Some(next.map_or(over, |next: Time| next.min(over)));
                at += 1;
            }
        }
        self.pools[pool as usize].watched = next.is_some();
        next
    }

    /// When somebody has to look at the idle connections of a pool, if nobody does yet.
    pub(in crate::world) fn watch(&mut self, pool: u32, now: Time) -> Option<Time> {
        let (patience, _) = self.patience(pool)?;
        let of = &self.pools[pool as usize];
        // Connections in use that have room for more are ready too; whoever gives one back comes by here.
        let idle = |id: &ConnId| (self.conns.get(*id)).is_some_and(|conn| conn.streams == 0);
        if of.watched || !of.ready.iter().any(idle) {
            return None;
        }
        self.pools[pool as usize].watched = true;
        Some(now.after(patience))
    }

    /// A replica has died: so have the connections to it. Gives the pools that have room now.
    pub(in crate::world) fn lose_replica(
        &mut self,
        service: u32,
        replica: u32,
        now: Time,
    ) -> Vec<u32> {
        let pools = self.pools_of(None, |place| place.service == service);
        let ends_there = |pool: u32| self.rule(pool).to_replicas;
        let touched: Vec<u32> = pools.into_iter().filter(|&pool| ends_there(pool)).collect();
        self.retire_all(now, |pool, at| at == replica && touched.contains(&pool));
        touched
    }

    /// A process has died with all its connections, and begins again with none but the warm ones.
    pub(in crate::world) fn lose_process(&mut self, service: u32, process: u32, now: Time) {
        let own = Caller::Service(service);
        let pools = self.pools_of(Some(process), |place| place.caller == own);
        self.retire_all(now, |pool, _| pools.contains(&pool));
        for pool in pools {
            self.pools[pool as usize].resolved = None;
            self.warm_up(pool, now);
        }
    }

    /// Whether a connection of the pool to the replica is meant; one that is still being opened has not got that far.
    fn retire_all(&mut self, now: Time, meant: impl Fn(u32, u32) -> bool) {
        let conns = self.conns.iter();
        let conns = conns.filter(|(_, c)| c.born.is_some() && meant(c.pool, c.replica));
        let ids: Vec<ConnId> = conns.map(|(id, _)| id).collect();
        for id in ids {
            self.retire(id, Closed::Lost, now);
        }
    }
}
