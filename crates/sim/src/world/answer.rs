//! Answers: how a job says what became of it, and the way of that home to its caller.

use seawall::{Failure, Reply};

use super::edge::EdgeState;
use super::job::{A_JOB, Job, JobState, NOWHERE};
use super::site::{Site, Way};
use super::{TaskId, World};
use crate::event::Event;
use crate::metrics::JobEnd;

/// The way of an answer.
#[derive(Clone, Copy)]
pub(super) enum Home {
    /// It arrives in this very instant.
    AtOnce,
    /// It travels.
    ByLink,
    /// There is none; the job goes on.
    Never,
    /// There is none, and the job is over.
    Gone,
}

impl Job {
    /// Takes note of the answer, which goes home if anybody waits for it and the link does not lose it.
    #[inline]
    pub(super) fn answer(&mut self, reply: Reply, site: &Site, edge: &mut EdgeState) -> Home {
        if self.caller_waits && !edge.loses(site.lose_response) {
            self.answer = reply;
            return match site.way {
                Way::Instant => Home::AtOnce,
                _ => Home::ByLink,
            };
        }
        self.unheard(reply)
    }

    /// Takes note of the answer, which nobody will get.
    #[inline]
    fn unheard(&mut self, reply: Reply) -> Home {
        self.answer = reply;
        self.caller_waits = false;
        match self.state {
            JobState::Ended => Home::Gone,
            _ => Home::Never,
        }
    }
}

impl World {
    /// Sends an attempt home that was never let in.
    pub(super) fn refuse(&mut self, id: TaskId, failure: Failure) -> Option<Event> {
        self.send_home(id, Reply::Failed(failure))
    }

    /// Sends an answer home to an attempt that was never let in.
    #[inline(never)]
    pub(super) fn send_home(&mut self, id: TaskId, reply: Reply) -> Option<Event> {
        let job = self.tasks[id].job_mut().expect(A_JOB);
        job.state = JobState::Ended;
        let arrives = self.answer(id, reply);
        arrives.then_some(Event::Answer(id))
    }

    /// The `respond` step: a job answers before its program is over. Nothing happens when it has, or to an
    /// iteration.
    #[inline(never)]
    pub(super) fn respond(&mut self, id: TaskId, reply: Reply) {
        let Some(job) = self.tasks[id].job() else {
            return;
        };
        if !job.answered {
            let reply = match self.effects {
                Some(_) => self.say(id, reply, false),
                None => reply,
            };
            let job = self.tasks[id].job_mut().expect(A_JOB);
            let service = &mut self.services[job.service as usize];
            service.answered_apart(self.now, job);
            if let Some(behaviour) = &mut service.behaviour {
                behaviour.answers_early();
            }
            self.ended(id, JobEnd::of(reply));
            if self.answer(id, reply) {
                self.soon.push_back(Event::Answer(id));
            }
        }
    }

    /// What else there is to an answer that has come home to a caller who waits for it; gives what the caller reads in it.
    #[cold]
    #[inline(never)]
    pub(super) fn hear_more(&mut self, job: TaskId, caller: TaskId, answer: Reply) -> Reply {
        if let Some(sessions) = self.sessions.as_deref_mut() {
            sessions.accept(job, caller);
        }
        match self.effects {
            Some(_) => self.hear(job, caller, answer),
            None => answer,
        }
    }

    /// Sends an answer home. Whether it arrives in this very instant, which is left to do.
    pub(super) fn answer(&mut self, id: TaskId, reply: Reply) -> bool {
        let job = self.tasks[id].job_mut().expect(A_JOB);
        let index = job.site;
        let home = if job.caller_waits {
            let (service, replica) = (job.service, job.replica);
            if replica != NOWHERE && self.services[service as usize].behaviour.is_some() {
                self.observe(service, replica, Some(reply));
                if self.sessions.is_some() && reply == Reply::Ok {
                    self.offer_session(id);
                }
            }
            let job = self.tasks[id].job_mut().expect(A_JOB);
            let site = &self.sites[index as usize];
            job.answer(reply, site, &mut self.edges[site.edge as usize])
        } else {
            job.unheard(reply)
        };
        self.go_home(id, index, home)
    }

    #[inline(always)]
    pub(super) fn go_home(&mut self, id: TaskId, site: u32, home: Home) -> bool {
        match home {
            Home::AtOnce => return true,
            Home::ByLink => self.travel(site, Event::Answer(id)),
            Home::Never => {}
            Home::Gone => {
                self.tasks.remove(id);
            }
        }
        false
    }
}
