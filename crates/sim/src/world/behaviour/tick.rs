//! What services plan: one event each, with what and for whom packed into it.

use seawall::{Entropy, Span, Time};

use crate::event::Event;
use crate::queue::Rank;
use crate::scenario::model::ProbeKind;
use crate::world::World;

/// Something that a service has planned.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Tick(
    /// The lower 24 bits are the replica; a scenario has a million of them at most. Above them eight bits of what, and the
    /// service.
    u64,
);

/// What a service plans.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Plan {
    /// A task of those that share a replica may be done.
    Shared,
    /// A replica begins.
    Restart,
    /// A replica is to be started again.
    Condemned,
    /// A replica stands still.
    PauseBegins,
    /// It goes on.
    PauseEnds,
    /// The balancer looks at its hosts.
    Sweep,
    /// The autoscaler looks.
    Scale,
    /// A replica is asked how it is.
    Probe(ProbeKind),
    /// It has not answered in time.
    Late(ProbeKind),
}

const PLANS: [Plan; 13] = [
    Plan::Shared,
    Plan::Restart,
    Plan::Condemned,
    Plan::PauseBegins,
    Plan::PauseEnds,
    Plan::Sweep,
    Plan::Scale,
    Plan::Probe(ProbeKind::Startup),
    Plan::Probe(ProbeKind::Liveness),
    Plan::Probe(ProbeKind::Readiness),
    Plan::Late(ProbeKind::Startup),
    Plan::Late(ProbeKind::Liveness),
    Plan::Late(ProbeKind::Readiness),
];

impl Plan {
    /// Its place among [`PLANS`].
    fn index(self) -> u32 {
        match self {
            Plan::Shared => 0,
            Plan::Restart => 1,
            Plan::Condemned => 2,
            Plan::PauseBegins => 3,
            Plan::PauseEnds => 4,
            Plan::Sweep => 5,
            Plan::Scale => 6,
            Plan::Probe(kind) => 7 + kind as u32,
            Plan::Late(kind) => 10 + kind as u32,
        }
    }
}

impl Tick {
    const BITS: u32 = 24;

    pub(super) fn new(plan: Plan, service: u32, replica: u32) -> Tick {
        Tick(u64::from(service) << 32 | u64::from(plan.index() << Self::BITS | replica))
    }

    pub(crate) fn bits(self) -> u64 {
        self.0
    }
}

impl World {
    /// Something comes up that a service has planned.
    #[cold]
    #[inline(never)]
    pub(in crate::world) fn on_tick(&mut self, tick: Tick) -> Option<Event> {
        let (service, packed) = ((tick.0 >> 32) as u32, tick.0 as u32);
        let replica = packed & ((1 << Tick::BITS) - 1);
        match PLANS[(packed >> Tick::BITS) as usize] {
            Plan::Shared => return self.on_shared(service, replica),
            Plan::Restart => self.on_restart(service, replica),
            Plan::Condemned => self.crash(service, replica, Time::ZERO),
            Plan::PauseBegins => self.on_pause(service, replica, true),
            Plan::PauseEnds => self.on_pause(service, replica, false),
            Plan::Sweep => self.on_sweep(service),
            Plan::Scale => self.on_scale(service),
            Plan::Probe(kind) => return self.on_probe(service, replica, kind),
            Plan::Late(kind) => return self.on_late_probe(service, replica, kind),
        }
        None
    }

    /// What services do by the clock, from the start.
    pub(in crate::world) fn plan_behaviours(&mut self) {
        let now = self.now;
        for (service, state) in (0u32..).zip(&mut self.services) {
            let Some(behaviour) = &mut state.behaviour else {
                continue;
            };
            let mut plan = |at: Time, plan, replica| {
                let tick = Tick::new(plan, service, replica);
                self.queue.push(at, Rank::Normal, Event::Tick(tick));
            };
            if let Some((detector, _)) = &behaviour.ejection {
                plan(now.after(detector.spec().interval), Plan::Sweep, 0);
            }
            if let Some(scaler) = &behaviour.scaler {
                plan(now.after(scaler.spec.every), Plan::Scale, 0);
            }
            for (n, it) in (0u32..).zip(&mut behaviour.replicas) {
                if let Some(pauses) = &behaviour.pauses {
                    let at = now.after(pauses.every.sample(&mut it.rhythm));
                    plan(at, Plan::PauseBegins, n);
                }
                for probe in &behaviour.probes {
                    let Span(period) = probe.period;
                    let first = match probe.spread {
                        true => Span(period).times(behaviour.luck.unit()),
                        false => Span(period),
                    };
                    plan(now.after(first), Plan::Probe(probe.kind), n);
                }
            }
        }
    }
}
