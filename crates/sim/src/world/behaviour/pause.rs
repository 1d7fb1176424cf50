//! Replicas that stand still.

use super::{Plan, Tick};
use crate::event::Event;
use crate::queue::Rank;
use crate::world::World;

impl World {
    /// A replica stops working, or no longer for this reason; it may have others.
    pub(in crate::world) fn pause(&mut self, service: u32, replica: u32, begins: bool) {
        let behaviour = self.services[service as usize].behaviour.as_mut();
        let Some(it) = behaviour.map(|b| &mut b.replicas[replica as usize]) else {
            return;
        };
        match begins {
            true => it.pauses += 1,
            false => it.pauses -= 1,
        }
        let paused = it.pauses > 0;
        if let Some(shared) = &mut it.shared {
            shared.pause(self.now, paused);
        }
        self.set_alarm(service, replica);
        self.listen(service, replica);
        if !paused {
            self.call_consumers(service);
        }
    }

    /// A pause of the kind that comes again and again begins or ends.
    pub(super) fn on_pause(&mut self, service: u32, replica: u32, begins: bool) {
        let behaviour = self.services[service as usize].behaviour.as_mut();
        let Some((pauses, it)) =
            behaviour.and_then(|b| Some((b.pauses.as_ref()?, &mut b.replicas[replica as usize])))
        else {
            return;
        };
        let (law, then) = match begins {
            true => (&pauses.length, Plan::PauseEnds),
            false => (&pauses.every, Plan::PauseBegins),
        };
        let next = self.now.after(law.sample(&mut it.rhythm));
        let tick = Tick::new(then, service, replica);
        self.queue.push(next, Rank::Normal, Event::Tick(tick));
        self.pause(service, replica, begins);
    }
}
