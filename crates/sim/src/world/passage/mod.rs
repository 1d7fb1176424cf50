//! Attempts whose way has more to it than a link: phases with a time of their own, and connections.
//!
//! Such an attempt is a [`Trip`], from setting out to its end. Its job exists from the start, so that whatever becomes
//! of it is told in one way; it reaches the service only once its request is written.

mod audit;
mod connect;
mod depart;
mod end;
mod leg;
mod token;

use std::sync::Arc;

use seawall::{Failure, Time};

use super::call::{CALLING, Sender};
use super::credential::Issue;
use super::pool::{ConnId, Pools};
use super::site::Way;
use super::{TaskId, World};
use crate::arena::{Arena, Id, beside};
use crate::event::Event;
use crate::metrics::{Leg, PassageCount};
use crate::queue::EventQueue;
use crate::rng::{Purpose, Stream};
use crate::scenario::model::Scenario;
use crate::scenario::passage::{Passages, SitePassage};
use crate::step::Pc;

pub(crate) type TripId = Id<Trip>;

/// An attempt on such a way.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Trip {
    /// The task whose call sent it, and the job it is.
    caller: TaskId,
    job: TaskId,
    attempt: u32,
    site: u32,
    /// Index into `PassageState::count`.
    subject: u32,
    /// Where it gets connections from.
    pool: Option<u32>,
    conn: ConnId,
    /// The replica its connection has to end at.
    replica: u32,
    leg: Leg,
    /// When it came to this leg, and when it set out.
    since: Time,
    began: Time,
    /// What it fails with at the end of this leg.
    fate: Option<Failure>,
    /// Whether it waits for a connection and has none yet.
    waits: bool,
    /// Whether its request will be lost.
    lost: bool,
    /// The token that it carries.
    token: Option<Issue>,
    /// Whether it has been sent once more with another token.
    again: bool,
    /// The next of the same call.
    next: TripId,
}

/// What a call site needs to know.
#[derive(Clone, Copy, Debug)]
struct SiteWay {
    passage: SitePassage,
    /// The link alone.
    link: Way,
}

/// Everything about such ways while a world runs.
#[derive(Clone, Debug)]
pub(super) struct PassageState {
    rules: Arc<Passages>,
    sites: Vec<Option<SiteWay>>,
    trips: Arena<Trip>,
    /// By slot of the calling task: the first of its trips.
    of_call: Vec<TripId>,
    /// By slot of the job.
    of_job: Vec<TripId>,
    /// How long legs take and whether they fail, by subject.
    luck: Vec<Stream>,
    pools: Pools,
    /// By service: whether handshakes with it fail.
    certificates_bad: Vec<bool>,
    count: Vec<PassageCount>,
}

/// Whoever comes here has asked.
const IN_USE: &str = "this world has such ways";

impl PassageState {
    /// Says how the link of a call site takes what goes over it.
    pub(super) fn set_way(&mut self, site: usize, way: Way) {
        if let Some(site) = &mut self.sites[site] {
            site.link = way;
        }
    }

    /// That of a scenario; `None` when it has none.
    pub(super) fn new(
        scenario: &Scenario,
        seed: u64,
        queue: &mut EventQueue<Event>,
    ) -> Option<Box<PassageState>> {
        let rules = scenario.passages.clone()?;
        let sites = rules.sites.iter().zip(&scenario.sites);
        let sites = sites.map(|(passage, site)| {
            let delay = &scenario.links[site.link as usize].delay;
            passage.map(|passage| SiteWay {
                passage,
                link: Way::of(delay, queue),
            })
        });
        let luck = rules.edges.iter().map(|&edge| {
            let name = scenario.edge_stream_name(edge as usize);
            Stream::new(seed, Purpose::Phase, &name)
        });
        Some(Box::new(PassageState {
            sites: sites.collect(),
            trips: Arena::new(),
            of_call: Vec::new(),
            of_job: Vec::new(),
            luck: luck.collect(),
            pools: Pools::new(scenario, &rules.pools),
            certificates_bad: vec![false; scenario.services.len()],
            count: vec![PassageCount::default(); rules.edges.len()],
            rules,
        }))
    }

    /// All its generators, by edge.
    pub(super) fn streams(&self) -> impl Iterator<Item = (u32, Purpose, &Stream)> {
        let edges = self.rules.edges.iter().zip(&self.luck);
        edges.map(|(edge, stream)| (*edge, Purpose::Phase, stream))
    }

    /// Whether the certificate of a service is no good from now on.
    pub(super) fn set_certificate(&mut self, service: u32, bad: bool) {
        self.certificates_bad[service as usize] = bad;
    }

    /// Counts so far.
    pub(super) fn counts(
        &mut self,
        now: Time,
    ) -> (Vec<PassageCount>, Vec<crate::metrics::PoolCount>) {
        (self.count.clone(), self.pools.counts(now))
    }

    /// What trips and connections take.
    pub(super) fn bytes(&self) -> usize {
        let slots = self.of_call.len() + self.of_job.len();
        self.trips.bytes() + self.pools.bytes() + slots * size_of::<TripId>()
    }

    /// The trip that a job is on.
    fn trip_of(&self, job: TaskId) -> Option<TripId> {
        let trip = *self.of_job.get(job.slot())?;
        let it = self.trips.get(trip)?;
        (it.job == job).then_some(trip)
    }

    fn begin(&mut self, trip: Trip) -> TripId {
        let next = *beside(&mut self.of_call, trip.caller, || Id::NONE);
        // Those of an earlier call of this slot are over.
        let next = match self.trips.get(next) {
            Some(other) if other.caller == trip.caller => next,
            _ => Id::NONE,
        };
        let id = self.trips.insert(|| Trip { next, ..trip });
        self.of_call[trip.caller.slot()] = id;
        self.is_job_of(trip.job, id);
        let count = &mut self.count[trip.subject as usize];
        count.begun += 1;
        id
    }

    fn is_job_of(&mut self, job: TaskId, trip: TripId) {
        *beside(&mut self.of_job, job, || Id::NONE) = trip;
    }

    /// Takes a trip out of the list of its call.
    fn unlink(&mut self, id: TripId) {
        let Some(&trip) = self.trips.get(id) else {
            return;
        };
        let mut before = Id::NONE;
        let mut at = self.of_call[trip.caller.slot()];
        while at != id {
            let Some(other) = self.trips.get(at) else {
                return;
            };
            (before, at) = (at, other.next);
        }
        match self.trips.get_mut(before) {
            Some(before) => before.next = trip.next,
            None => self.of_call[trip.caller.slot()] = trip.next,
        }
    }
}

impl World {
    /// Has an attempt set out whose way has more to it than a link.
    #[cold]
    #[inline(never)]
    pub(super) fn set_out(
        &mut self,
        id: TaskId,
        from: Sender,
        attempt: u32,
        deadline: Option<Time>,
    ) -> Option<Event> {
        let (index, now) = (from.site, self.now);
        let site = self.sites[index as usize];
        let lost = self.edges[site.edge as usize].loses(site.lose_request);
        let job = self.job_of_attempt(id, from, attempt, deadline);
        let call = self.tasks[id].call.as_mut().expect(CALLING);
        call.job = job;
        let process = self.edges[site.edge as usize].process_of(call.engine);
        if self.effects.is_some() {
            self.send_intent(id, Some(job), attempt, index);
        }
        let state = self.passages.as_deref_mut().expect(IN_USE);
        let passage = state.sites[index as usize].expect(IN_USE).passage;
        let pool = passage.pool.map(|place| state.pools.first(place) + process);
        let trip = state.begin(Trip {
            caller: id,
            job,
            attempt,
            site: index,
            subject: passage.subject,
            pool,
            conn: Id::NONE,
            replica: 0,
            leg: Leg::Credential,
            since: now,
            began: now,
            fate: None,
            waits: false,
            lost,
            token: None,
            again: false,
            next: Id::NONE,
        });
        self.go_on(trip, Leg::Credential)
    }

    /// A leg of a trip is over.
    #[cold]
    #[inline(never)]
    pub(super) fn on_leg(&mut self, id: TripId) -> Option<Event> {
        let state = self.passages.as_deref_mut()?;
        let trip = *state.trips.get(id)?;
        if let Some(failure) = trip.fate {
            return self.fail_trip(id, failure);
        }
        let next = match trip.leg {
            Leg::Credential => Leg::Pool,
            // It has been given one.
            Leg::Pool => match state.pools.get(trip.conn)?.is_open() {
                true => Leg::Send,
                false => Leg::Dns,
            },
            Leg::Server => Leg::Receive,
            leg => match self.leg_after(id, leg) {
                Some(next) => next,
                None => return self.arrive(id),
            },
        };
        self.go_on(id, next)
    }

    /// What comes after a leg that has a time of its own, and what its end means for the connection; `None`: the trip is
    /// home.
    fn leg_after(&mut self, id: TripId, leg: Leg) -> Option<Leg> {
        Some(match leg {
            Leg::Dns => Leg::Connect,
            Leg::Connect => Leg::Tls,
            Leg::Tls => {
                self.connected(id);
                Leg::Send
            }
            Leg::Send => Leg::Server,
            Leg::Receive => {
                self.hang_up(id);
                Leg::Decode
            }
            _ => return None,
        })
    }

    /// Takes a trip as far as it comes without taking time, from the beginning of `leg` on.
    fn go_on(&mut self, id: TripId, mut leg: Leg) -> Option<Event> {
        loop {
            leg = match leg {
                Leg::Credential => self.come_by_token(id)?,
                Leg::Pool => self.find_connection(id)?,
                Leg::Server => return self.depart(id),
                Leg::Dns | Leg::Connect | Leg::Tls | Leg::Send | Leg::Receive | Leg::Decode => {
                    match self.enter(id, leg) {
                        leg::Entered::Takes => return None,
                        leg::Entered::Fails(failure) => return self.fail_trip(id, failure),
                        leg::Entered::Passed => {}
                    }
                    match self.leg_after(id, leg) {
                        Some(next) => next,
                        None => return self.arrive(id),
                    }
                }
            }
        }
    }

    /// Where the program of the first request of a connection begins.
    fn first_entry(&self, site: u32) -> Option<Pc> {
        let state = self.passages.as_deref()?;
        state.sites[site as usize]?.passage.first
    }
}
