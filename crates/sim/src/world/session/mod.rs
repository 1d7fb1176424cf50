//! Sessions: connections of clients that last, each to one replica, until it goes away.
//!
//! A session begins with a call. Whoever answers that well offers it, and the client takes it up when the answer has come home. A
//! session takes no worker; it is the task that waits.

mod hold;
mod silence;

use std::sync::Arc;

use seawall::Time;

use super::{TaskId, World};
use crate::arena::{Id, beside};
use crate::metrics::{Level, SessionCount};
use crate::scenario::model::Scenario;
use crate::scenario::sessions::Sessions;

/// Who answered the call that a session begins with.
#[derive(Clone, Copy, Debug)]
struct Offer {
    /// The job that answered, and once its answer has come home the task that called.
    of: TaskId,
    replica: u32,
    at: Time,
}

impl Offer {
    const NONE: Offer = Offer {
        of: Id::NONE,
        replica: 0,
        at: Time::ZERO,
    };

    /// Writes down an offer at the slot of whose it is.
    fn note(self, offers: &mut Vec<Offer>) {
        *beside(offers, self.of, || Offer::NONE) = self;
    }

    /// That of a task, which is used up by taking it.
    fn take(offers: &mut [Offer], of: TaskId) -> Option<Offer> {
        let kept = offers.get_mut(of.slot()).filter(|kept| kept.of == of)?;
        Some(std::mem::replace(kept, Offer::NONE))
    }
}

/// A session that is held.
#[derive(Clone, Copy, Debug)]
struct Held {
    task: TaskId,
    session: u32,
    replica: u32,
    /// Its place in the list of the replica.
    place: u32,
    /// When it is over, and when it breaks for want of a sign of life; `Time::MAX`: never.
    ends: Time,
    breaks: Time,
}

impl Held {
    const NONE: Held = Held {
        task: Id::NONE,
        session: 0,
        replica: 0,
        place: 0,
        ends: Time::MAX,
        breaks: Time::MAX,
    };
}

/// The sessions with one service.
#[derive(Clone, Debug)]
struct OfService {
    service: u32,
    /// By replica.
    held: Vec<Vec<TaskId>>,
    open: Level,
    count: SessionCount,
}

/// Everything about sessions while a world runs.
#[derive(Clone, Debug)]
pub(super) struct SessionsState {
    rules: Arc<Sessions>,
    /// By the slot of the job: what is on its way home.
    offers: Vec<Offer>,
    /// By the slot of the task that called: what it may take up.
    accepted: Vec<Offer>,
    /// By the slot of the task that holds it.
    held: Vec<Held>,
    services: Vec<OfService>,
    /// By service: its place among `services`.
    places: Vec<Option<u32>>,
}

/// Whoever comes here holds sessions.
const IN_USE: &str = "sessions are held in this world";

impl SessionsState {
    /// That of a scenario; `None` when it has none.
    pub(super) fn new(scenario: &Scenario) -> Option<Box<SessionsState>> {
        let rules = scenario.sessions.clone()?;
        let of = |&service: &u32| OfService {
            service,
            held: vec![Vec::new(); scenario.services[service as usize].replicas as usize],
            open: Level::default(),
            count: SessionCount::default(),
        };
        let services: Vec<OfService> = rules.services.iter().map(of).collect();
        let mut places = vec![None; scenario.services.len()];
        for (place, of) in (0u32..).zip(&services) {
            places[of.service as usize] = Some(place);
        }
        Some(Box::new(SessionsState {
            rules,
            offers: Vec::new(),
            accepted: Vec::new(),
            held: Vec::new(),
            services,
            places,
        }))
    }

    /// Everything counted so far.
    pub(super) fn counts(&self, now: Time) -> Vec<SessionCount> {
        let count = |of: &OfService| SessionCount {
            open_ns: of.open.integral(now),
            time_ns: u128::from(now.0),
            ..of.count.clone()
        };
        self.services.iter().map(count).collect()
    }

    /// What the notes take.
    pub(super) fn bytes(&self) -> usize {
        let offers = self.offers.len() + self.accepted.len();
        offers * size_of::<Offer>() + self.held.len() * size_of::<Held>()
    }

    /// The answer of a job has reached its caller, which waits for it: of several attempts of a call this is the one that counts.
    pub(super) fn accept(&mut self, job: TaskId, caller: TaskId) {
        if let Some(offer) = Offer::take(&mut self.offers, job) {
            let of = caller;
            Offer { of, ..offer }.note(&mut self.accepted);
        }
    }

    /// How many sessions a replica has.
    pub(super) fn open(&self, service: u32, replica: u32) -> u64 {
        let place = self.places[service as usize];
        place.map_or(0, |place| {
            self.services[place as usize].held[replica as usize].len() as u64
        })
    }

    fn of(&mut self, service: u32) -> Option<&mut OfService> {
        let place = self.places[service as usize]?;
        self.services.get_mut(place as usize)
    }

    /// The session that a task holds.
    fn held_by(&mut self, task: TaskId) -> Option<&mut Held> {
        self.held
            .get_mut(task.slot())
            .filter(|held| held.task == task)
    }

    /// A task holds its session no longer.
    fn let_go(&mut self, task: TaskId, now: Time) -> Option<&mut SessionCount> {
        let held = std::mem::replace(self.held_by(task)?, Held::NONE);
        let service = self.rules.all[held.session as usize].service;
        let place = self.places[service as usize]? as usize;
        let of = &mut self.services[place];
        of.open.fall(now);
        let list = &mut of.held[held.replica as usize];
        list.swap_remove(held.place as usize);
        if let Some(&moved) = list.get(held.place as usize) {
            self.held[moved.slot()].place = held.place;
        }
        Some(&mut self.services[place].count)
    }

    /// The laws that are broken. `waits`: whether a task still waits.
    pub(super) fn broken_laws(&self, waits: impl Fn(TaskId) -> bool) -> Vec<String> {
        let mut broken = Vec::new();
        for of in &self.services {
            let (count, open) = (&of.count, of.open.count());
            let ended = count.ended + count.broken;
            if count.begun != ended + open {
                broken.push(format!(
                    "each session ends once: service {} saw {} begin, {ended} end, {open} are open",
                    of.service, count.begun
                ));
            }
            let listed = of
                .held
                .iter()
                .flatten()
                .filter(|&&task| waits(task))
                .count() as u64;
            if listed != open {
                broken.push(format!(
                    "each session has somebody who holds it: of {open} with service {} {listed} do",
                    of.service
                ));
            }
        }
        broken
    }
}

impl World {
    /// A job answers the call of a session: its replica offers to hold it.
    #[cold]
    #[inline(never)]
    pub(super) fn offer_session(&mut self, id: TaskId) {
        let Some(job) = self.tasks[id].job() else {
            return;
        };
        let (replica, site) = (job.replica, job.site);
        let state = self.sessions.as_deref_mut().expect(IN_USE);
        if state.rules.by_site[site as usize].is_some() {
            let (of, at) = (id, self.now);
            Offer { of, replica, at }.note(&mut state.offers);
        }
    }
}
