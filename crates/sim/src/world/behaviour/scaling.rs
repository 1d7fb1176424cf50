//! Replicas that are added and taken away by what is measured, as the Horizontal Pod Autoscaler of Kubernetes does:
//! `desired = ceil(replicas × measured / target)`, nothing while that quotient is within the tolerance of 1, and no fewer than
//! the most that was desired within the cooldown. Where more are needed, replicas that are not up yet count as idle: they were added
//! for the very load that is measured.

use std::collections::VecDeque;

use seawall::Time;

use super::{Plan, Tick};
use crate::event::Event;
use crate::metrics::Level;
use crate::queue::Rank;
use crate::scenario::model::{Scaling, Signal};
use crate::world::World;
use crate::world::rollout::rounded_up;

/// An autoscaler while it runs.
#[derive(Clone, Debug)]
pub(super) struct Scaler {
    pub(super) spec: Scaling,
    /// Replicas that are there, and those of them that are up.
    there: Level,
    up: Level,
    seen: Seen,
    /// What was desired lately, and when; the least recent first.
    desired: VecDeque<(Time, u32)>,
}

/// What has been measured so far.
#[derive(Clone, Copy, Debug, Default)]
struct Seen {
    /// Used and available, by the signal's measure, in units of ns.
    used: u128,
    available: u128,
    /// Replica time, in ns.
    there: u128,
    up: u128,
}

impl Scaler {
    pub(super) fn new(spec: Scaling) -> Scaler {
        let mut all = Level::default();
        all.set(Time::ZERO, u64::from(spec.initial));
        Scaler {
            spec,
            there: all,
            up: all,
            seen: Seen::default(),
            desired: VecDeque::from([(Time::ZERO, spec.initial)]),
        }
    }

    /// So many replicas are there, and up, from now on.
    pub(super) fn see(&mut self, now: Time, there: u64, up: u64) {
        self.there.set(now, there);
        self.up.set(now, up);
    }

    /// How many replicas there should be, `there` being there.
    fn decide(&mut self, now: Time, there: u32, used: u128, available: u128) -> u32 {
        let Scaling {
            min,
            max,
            target,
            tolerance,
            cooldown,
            ..
        } = self.spec;
        let seen = Seen {
            used,
            available,
            there: self.there.integral(now),
            up: self.up.integral(now),
        };
        let before = std::mem::replace(&mut self.seen, seen);
        let ratio = match seen.available - before.available {
            0 => 1.0,
            available => (seen.used - before.used) as f64 / available as f64 / target,
        };
        let ratio = match (seen.there - before.there, seen.up - before.up) {
            (all, up) if ratio > 1.0 && up < all => (ratio * up as f64 / all as f64).max(1.0),
            _ => ratio,
        };
        let desired = match (ratio - 1.0).abs() <= tolerance {
            true => there,
            false => rounded_up(f64::from(there) * ratio),
        };
        let desired = desired.clamp(min, max);
        while self
            .desired
            .front()
            .is_some_and(|(at, _)| at.after(cooldown) < now)
        {
            self.desired.pop_front();
        }
        self.desired.push_back((now, desired));
        let most = self.desired.iter().map(|(_, desired)| *desired).max();
        match desired < there {
            true => most.unwrap_or(desired).min(there),
            false => desired,
        }
    }
}

impl World {
    /// An autoscaler looks, and acts.
    pub(super) fn on_scale(&mut self, service: u32) {
        let now = self.now;
        let state = &mut self.services[service as usize];
        state.settle(now);
        let count = &state.meter.count;
        let (busy, workers, queue, standing) = (
            count.busy_ns,
            count.workers_ns,
            count.queue_ns,
            count.replicas_ns,
        );
        let Some(behaviour) = &mut state.behaviour else {
            return;
        };
        let working = behaviour.worked(now);
        let there = behaviour.replicas.iter().filter(|it| it.there).count() as u32;
        let cores = behaviour.cores;
        let Some(scaler) = &mut behaviour.scaler else {
            return;
        };
        let spec = scaler.spec;
        let (used, available) = match spec.signal {
            Signal::Workers => (busy, workers),
            Signal::Cpu => (working, standing * u128::from(cores)),
            Signal::Queue => (queue, standing),
        };
        let wanted = scaler.decide(now, there, used, available);
        let next = now.after(spec.every);
        let tick = Tick::new(Plan::Scale, service, 0);
        self.queue.push(next, Rank::Normal, Event::Tick(tick));
        self.resize(service, there, wanted);
    }

    fn resize(&mut self, service: u32, there: u32, wanted: u32) {
        let now = self.now;
        let state = &mut self.services[service as usize];
        let Some(behaviour) = &mut state.behaviour else {
            return;
        };
        let lag = behaviour
            .scaler
            .as_ref()
            .map(|scaler| scaler.spec.lag)
            .unwrap_or_default();
        let all = 0..behaviour.replicas.len() as u32;
        if wanted > there {
            // The first that are not there; one that is still emptying out is taken back as it is.
            let gone = all.zip(&mut behaviour.replicas).filter(|(_, r)| !r.there);
            for (n, it) in gone.take((wanted - there) as usize) {
                it.there = true;
                if state.replicas[n as usize].inside == 0 {
                    it.up = false;
                    it.back = now.after(lag);
                    let tick = Tick::new(Plan::Restart, service, n);
                    self.queue.push(it.back, Rank::Normal, Event::Tick(tick));
                }
            }
        } else if wanted < there {
            // The last ones get no more requests, and end what they have.
            let last = behaviour.replicas.iter_mut().rev().filter(|r| r.there);
            last.take((there - wanted) as usize)
                .for_each(|it| it.there = false);
        } else {
            return;
        }
        if self.sessions.is_some() {
            self.break_sessions_with_the_gone(service);
        }
        self.rotate(service);
    }
}
