//! How a trip ends: it arrives, fails on its way, or is given up.

use seawall::{Failure, Phase, Reply};

use super::{IN_USE, Trip, TripId};
use crate::event::Event;
use crate::metrics::Leg;
use crate::world::job::{A_JOB, JobState, NOWHERE};
use crate::world::pool::Closed;
use crate::world::{TaskId, World};

impl World {
    /// A trip is over; its time and its connection are accounted for. `why`: what becomes of the connection, if it
    /// still has one.
    fn end_trip(&mut self, id: TripId, why: Closed, failed: bool) -> Option<Trip> {
        let now = self.now;
        self.leaves_leg(id);
        let state = self.passages.as_deref_mut().expect(IN_USE);
        let trip = *state.trips.get(id)?;
        state.waits_no_more(id, now);
        state.drop_connection(id, why, now);
        let count = &mut state.count[trip.subject as usize];
        count.ended += 1;
        count.total_ns += u128::from(now.since(trip.began).0);
        count.failed[trip.leg as usize] += u64::from(failed);
        state.unlink(id);
        state.trips.remove(id);
        if let Some(pool) = trip.pool {
            self.serve_waiting(pool);
        }
        Some(trip)
    }

    /// A trip has brought its answer home.
    pub(super) fn arrive(&mut self, id: TripId) -> Option<Event> {
        if self.credentials.is_some()
            && let Some(follows) = self.goes_again(id)
        {
            return follows;
        }
        let trip = self.end_trip(id, Closed::Broken, false)?;
        Some(Event::Answer(trip.job))
    }

    /// A trip ends before it has brought an answer home.
    pub(super) fn fail_trip(&mut self, id: TripId, failure: Failure) -> Option<Event> {
        let trip = self.end_trip(id, Closed::Broken, true)?;
        let job = self.tasks[trip.job].job_mut().expect(A_JOB);
        job.answer = Reply::Failed(failure);
        let (service, replica) = (job.service, job.replica);
        if job.state == JobState::Sent {
            job.state = JobState::Ended;
            if self.effects.is_some() {
                self.job_is_over(trip.job);
            }
            if replica != NOWHERE && self.services[service as usize].behaviour.is_some() {
                self.observe(service, replica, Some(Reply::Failed(failure)));
            }
        }
        Some(Event::Answer(trip.job))
    }

    /// The call of a task gives up its attempt. The phase that was in, if it was on a way with phases; a job that is
    /// still to be left in the ordinary way is there afterwards, any other is not.
    #[cold]
    #[inline(never)]
    pub(in crate::world) fn phase_given_up(&mut self, caller: TaskId) -> Option<Phase> {
        let job = self.tasks[caller].call.as_ref()?.job;
        let state = self.passages.as_deref_mut()?;
        let mut id = *state.of_call.get(caller.slot())?;
        while state.trips.get(id)?.job != job {
            id = state.trips.get(id)?.next;
        }
        let trip = *state.trips.get(id)?;
        if trip.caller != caller {
            return None;
        }
        self.end_trip(id, Closed::GivenUp, true);
        let stays = trip.leg < Leg::Server || (trip.leg == Leg::Server && trip.fate.is_some());
        let state = (self.tasks.get(job).and_then(|task| task.job())).map(|job| job.state);
        match state {
            // Its answer would have come up.
            Some(JobState::Ended) => {
                self.tasks.remove(job);
            }
            Some(JobState::Sent) if stays => self.forget_job(job),
            _ => {}
        }
        Some(trip.leg.phase())
    }

    /// A job is over whose request never reached its service.
    pub(super) fn forget_job(&mut self, id: TaskId) {
        if self.effects.is_some() {
            self.job_is_over(id);
        }
        self.tasks.remove(id);
    }
}
