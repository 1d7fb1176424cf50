//! A balancer that leaves out replicas that fail: Envoy's outlier detection, with panic mode.

use seawall::outlier::{LocalOrigin, OutlierDetector};
use seawall::{Entropy, FailureKind, Reply, Time};

use super::{BehaviourState, Plan, Tick};
use crate::event::Event;
use crate::queue::Rank;
use crate::world::World;

impl BehaviourState {
    /// What an answer or its absence says about a replica. Whether it is left out since.
    pub(super) fn observe(&mut self, replica: u32, reply: Option<Reply>, now: Time) -> bool {
        let Some((detector, _)) = &mut self.ejection else {
            return false;
        };
        let (host, luck) = (replica as usize, &mut self.luck);
        let before = detector.is_ejected(host);
        match reply {
            Some(Reply::Ok) => answered(detector, host, 200, now, luck),
            Some(Reply::Failed(failure)) => match failure.kind {
                FailureKind::Timeout | FailureKind::ConnectTimeout => {
                    detector.local_origin(host, LocalOrigin::Timeout, now, luck);
                }
                kind => match kind.http() {
                    Some(code) => answered(detector, host, code, now, luck),
                    None => detector.local_origin(host, LocalOrigin::ConnectFailed, now, luck),
                },
            },
            None => detector.local_origin(host, LocalOrigin::Timeout, now, luck),
        }
        detector.is_ejected(host) != before
    }
}

/// An answer with a status: whatever it says, nothing went wrong on the way.
fn answered(
    detector: &mut OutlierDetector,
    host: usize,
    code: u16,
    now: Time,
    luck: &mut impl Entropy,
) {
    if detector.spec().split_local_origin {
        detector.local_origin(host, LocalOrigin::Success, now, luck);
    }
    detector.response(host, code, now, luck);
}

impl World {
    /// Hosts come back, and those that stand out are left out.
    pub(super) fn on_sweep(&mut self, service: u32) {
        let now = self.now;
        let state = &mut self.services[service as usize];
        let Some(behaviour) = &mut state.behaviour else {
            return;
        };
        let Some((detector, _)) = &mut behaviour.ejection else {
            return;
        };
        detector.sweep(now, &mut behaviour.luck);
        let next = now.after(detector.spec().interval);
        let tick = Tick::new(Plan::Sweep, service, 0);
        self.queue.push(next, Rank::Normal, Event::Tick(tick));
        self.rotate(service);
    }
}
