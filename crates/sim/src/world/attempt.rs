//! Attempts: on their way to a service, and given up.

use seawall::{CallKey, FailureKind, Time};

use super::call::{CALLING, Sender};
use super::job::Job;
use super::site::Way;
use super::task::{Task, What};
use super::{TaskId, World};
use crate::arena::Id;
use crate::event::Event;
use crate::metrics::{AttemptLink, Said};
use crate::queue::Rank;

impl World {
    /// Sends an attempt on its way.
    #[inline(always)]
    pub(super) fn send(
        &mut self,
        id: TaskId,
        from: Sender,
        attempt: u32,
        deadline: Option<Time>,
    ) -> Option<Event> {
        let index = from.site;
        let site = &self.sites[index as usize];
        if matches!(site.way, Way::Staged) {
            return self.set_out(id, from, attempt, deadline);
        }
        let instant = matches!(site.way, Way::Instant);
        let lost = self.edges[site.edge as usize].loses(site.lose_request);
        let job = if lost {
            // The server never sees it; the caller does not know.
            Id::NONE
        } else {
            self.job_of_attempt(id, from, attempt, deadline)
        };
        self.tasks[id].call.as_mut().expect(CALLING).job = job;
        if self.looked_at {
            self.note_sent(id, job, attempt, index);
        }
        if lost {
            return None;
        }
        if instant {
            return Some(Event::Deliver(job));
        }
        self.travel(index, Event::Deliver(job));
        None
    }

    /// What an attempt asks its service for, on its way.
    #[inline(always)]
    pub(super) fn job_of_attempt(
        &mut self,
        id: TaskId,
        from: Sender,
        attempt: u32,
        deadline: Option<Time>,
    ) -> TaskId {
        let site = &self.sites[from.site as usize];
        let (class, client) = match site.asks_for_origin {
            true => self.origin(id, site.priority),
            false => (0, 0),
        };
        let (service, entry, now) = (site.service, site.entry, self.now);
        self.tasks.insert(|| {
            let job = Job {
                replica: from.host,
                tenant: from.tenant,
                class,
                client,
                ..Job::sent(id, attempt, from.site, service, deadline, now)
            };
            Task::new(What::Job(job), entry)
        })
    }

    /// What else is to be done when an attempt has been sent: by `job`, or by nobody if it was lost.
    #[cold]
    #[inline(never)]
    pub(super) fn note_sent(&mut self, id: TaskId, job: TaskId, attempt: u32, site: u32) {
        let job = (job != Id::NONE).then_some(job);
        if let Some(job) = job {
            self.log_departure(id, job, attempt);
        }
        if self.effects.is_some() {
            self.send_intent(id, job, attempt, site);
        }
    }

    /// Writes down that an attempt is on its way to its service, if anybody asked.
    pub(super) fn log_departure(&mut self, id: TaskId, job: TaskId, attempt: u32) {
        if let Some(log) = &mut self.recorder.log
            && !log.ends_only
        {
            log.attempts_sent.push(AttemptLink {
                exchange: log.exchanges.len(),
                call: CallKey(id.bits()),
                attempt,
                job: job.bits(),
            });
        }
    }

    /// Chooses a replica for the next attempt of a call whose policy tells them apart, one that it does not refuse
    /// if there is one.
    #[cold]
    pub(super) fn choose_host(&mut self, id: TaskId) {
        let call = self.tasks[id].call.as_mut().expect(CALLING);
        let engine = &mut self.engines[call.engine as usize];
        let service = self.sites[call.site as usize].service;
        let admits = |replica: u32| engine.admits_host(self.now, u64::from(replica));
        let host = self.services[service as usize].pick_passing_over(admits);
        call.host = host;
        let edge = &self.edges[call.edge as usize];
        call.log(&mut self.recorder.log, self.now, edge, Said::Host(host));
        engine.on_host(&mut call.state, u64::from(host));
    }

    /// Sends an event along the link of a site: a request or a cancellation out, an answer home.
    #[inline]
    pub(super) fn travel(&mut self, index: u32, event: Event) {
        let site = &self.sites[index as usize];
        match site.way {
            Way::Instant => self.soon.push_back(event),
            Way::Constant(lane) => self.queue.push_lane(lane, self.now, event),
            Way::Random => {
                let delay = &self.scenario.links[site.link as usize].delay;
                let span = delay.sample(&mut self.edges[site.edge as usize].link);
                self.queue.push(self.now.after(span), Rank::Normal, event);
            }
            Way::Staged => self.travel_by_legs(index, event),
        }
    }

    /// The call gives up its attempt under way: it timed out, or is not needed any more, or the call itself is cancelled.
    pub(super) fn abandon(&mut self, id: TaskId, timed_out: bool) {
        let mut phase = FailureKind::Timeout.phase();
        if self.passages.is_some() {
            phase = self.phase_given_up(id).unwrap_or(phase);
        }
        let call = self.tasks[id].call.as_mut().expect(CALLING);
        let meter = &mut self.edges[call.edge as usize].meter;
        if !call.cancelled && timed_out {
            meter.attempt_failed(FailureKind::Timeout, phase);
        }
        let job_id = std::mem::replace(&mut call.job, Id::NONE);
        meter.attempt_ended(self.now.since(call.sent));
        if self.effects.is_some() {
            self.hear_nothing(id);
        }
        // The request may be lost, or the service gone: then there is nobody to leave.
        if self.tasks.contains(job_id) {
            self.caller_leaves(job_id);
        }
    }
}
