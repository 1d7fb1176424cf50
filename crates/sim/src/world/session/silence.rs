//! Replicas that give no sign of life to those who hold sessions with them.

use seawall::Time;

use super::IN_USE;
use crate::event::Event;
use crate::queue::Rank;
use crate::world::World;

impl World {
    /// Whether a replica answers no heartbeats: it stands still or is dead, or nobody gets through to the service.
    pub(super) fn is_silent(&self, service: u32, replica: u32) -> bool {
        let state = &self.services[service as usize];
        state.out || !state.is_up(replica) || state.stands_still(replica)
    }

    /// A replica may have fallen silent, or be heard again. Nothing happens where no sessions are held.
    pub(in crate::world) fn listen(&mut self, service: u32, replica: u32) {
        let Some(state) = self.sessions.as_deref() else {
            return;
        };
        if state.open(service, replica) == 0 {
            return;
        }
        match self.is_silent(service, replica) {
            true => self.miss_heartbeats(service, replica),
            false => self.hear_again(service, replica),
        }
    }

    /// The same of all replicas of a service.
    pub(in crate::world) fn listen_to_all(&mut self, service: u32) {
        for replica in 0..self.services[service as usize].replicas.len() as u32 {
            self.listen(service, replica);
        }
    }

    /// Heartbeats of a replica fail to come from now on: each session breaks when its client has had enough.
    pub(super) fn miss_heartbeats(&mut self, service: u32, replica: u32) {
        let now = self.now;
        let state = self.sessions.as_deref_mut().expect(IN_USE);
        let Some(place) = state.places[service as usize] else {
            return;
        };
        for &task in &state.services[place as usize].held[replica as usize] {
            let held = &mut state.held[task.slot()];
            let heartbeat = state.rules.all[held.session as usize].heartbeat;
            let (Time::MAX, Some(heartbeat)) = (held.breaks, heartbeat) else {
                continue;
            };
            held.breaks = now.after(heartbeat);
            self.queue
                .push(held.breaks, Rank::Timer, Event::Session(task));
        }
    }

    fn hear_again(&mut self, service: u32, replica: u32) {
        let state = self.sessions.as_deref_mut().expect(IN_USE);
        let Some(place) = state.places[service as usize] else {
            return;
        };
        for &task in &state.services[place as usize].held[replica as usize] {
            state.held[task.slot()].breaks = Time::MAX;
        }
    }

    /// A replica died: its sessions break at once, or nobody tells those who hold them.
    pub(in crate::world) fn lose_sessions(&mut self, service: u32, replica: u32, told: bool) {
        match told {
            true => self.break_sessions(service, replica),
            false => self.miss_heartbeats(service, replica),
        }
    }
}
