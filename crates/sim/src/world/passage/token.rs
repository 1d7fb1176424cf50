//! Trips that need a token.

use seawall::{Failure, Reply};

use super::{IN_USE, PassageState, TripId};
use crate::event::Event;
use crate::metrics::Leg;
use crate::world::call::CALLING;
use crate::world::credential::{Held, Issue};
use crate::world::job::{A_JOB, Job, JobState, NOWHERE};
use crate::world::task::{Task, What};
use crate::world::{TaskId, World};

impl PassageState {
    /// What became of the token that a trip waits for. Whether it does.
    pub(in crate::world) fn has_token(
        &mut self,
        id: TripId,
        outcome: Result<Issue, Failure>,
    ) -> bool {
        let Some(trip) = self
            .trips
            .get_mut(id)
            .filter(|trip| trip.leg == Leg::Credential)
        else {
            return false;
        };
        match outcome {
            Ok(issue) => trip.token = Some(issue),
            Err(failure) => trip.fate = Some(failure),
        }
        true
    }

    /// The token that a job came with.
    pub(in crate::world) fn token_of(&self, job: TaskId) -> Option<Issue> {
        self.trips.get(self.trip_of(job)?)?.token
    }
}

impl World {
    /// A trip comes by the token that it needs. The leg that follows; `None`: it waits for one.
    pub(super) fn come_by_token(&mut self, id: TripId) -> Option<Leg> {
        let trip = *self.passages.as_deref()?.trips.get(id)?;
        if self.credentials.is_none() {
            return Some(Leg::Pool);
        }
        let (process, tenant) = self.holder(&trip)?;
        let held = self.find_token(id, trip.site, process, tenant);
        let state = self.passages.as_deref_mut().expect(IN_USE);
        match held {
            Held::NotNeeded => Some(Leg::Pool),
            Held::Token(issue) => {
                state.trips.get_mut(id)?.token = Some(issue);
                Some(Leg::Pool)
            }
            Held::Waits => {
                self.comes_to(id, Leg::Credential);
                None
            }
        }
    }

    /// The process that makes the call of a trip, and the client on whose behalf.
    fn holder(&self, trip: &super::Trip) -> Option<(u32, u32)> {
        let call = self.tasks.get(trip.caller)?.call.as_ref()?;
        let edge = &self.edges[call.edge as usize];
        Some((edge.process_of(call.engine), call.tenant))
    }

    /// A trip has come home with an answer. `Some`: that is thrown away, the trip goes out once more, and this follows.
    pub(super) fn goes_again(&mut self, id: TripId) -> Option<Option<Event>> {
        let trip = *self.passages.as_deref()?.trips.get(id)?;
        let issue = trip.token?;
        let job = *self.tasks.get(trip.job)?.job()?;
        let holder = self.holder(&trip)?;
        // One whose program goes on has been worked on.
        let again = trip.again || job.state != JobState::Ended;
        if !self.rejected(trip.site, holder, issue, job.answer, again) {
            return None;
        }
        if self.effects.is_some() {
            self.hear(
                trip.job,
                trip.caller,
                Reply::Failed(seawall::FailureKind::Unauthenticated.into()),
            );
        }
        let site = self.sites[trip.site as usize];
        let lost = self.edges[site.edge as usize].loses(site.lose_request);
        let now = self.now;
        self.tasks.remove(trip.job);
        let new = self.tasks.insert(|| {
            let (caller, attempt, deadline) = (job.caller, job.attempt, job.deadline);
            let sent = Job::sent(caller, attempt, trip.site, site.service, deadline, now);
            let job = Job {
                replica: NOWHERE,
                tenant: job.tenant,
                class: job.class,
                client: job.client,
                again: true,
                ..sent
            };
            Task::new(What::Job(job), site.entry)
        });
        let call = self.tasks[trip.caller].call.as_mut().expect(CALLING);
        let (host, copies) = (call.host, call.copies);
        match copies {
            None => call.job = new,
            Some(place) => self.hedged.is_another_job(place, trip.job, new),
        }
        self.tasks[new].job_mut().expect(A_JOB).replica = host;
        if self.effects.is_some() {
            self.send_intent(trip.caller, Some(new), job.attempt, trip.site);
        }
        let state = self.passages.as_deref_mut().expect(IN_USE);
        state.is_job_of(new, id);
        if let Some(trip) = state.trips.get_mut(id) {
            (trip.job, trip.lost, trip.again, trip.token) = (new, lost, true, None);
        }
        Some(self.go_on(id, Leg::Credential))
    }
}
