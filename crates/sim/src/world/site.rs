//! What a `call` step needs to know, gathered from all over the scenario into one place.

use seawall::{Operation, Span};

use super::World;
use crate::event::Event;
use crate::law::Law;
use crate::queue::{EventQueue, Lane, Rank};
use crate::scenario::model::{Scenario, Service};
use crate::step::Pc;

/// One `call` step.
#[derive(Clone, Copy, Debug)]
pub(super) struct Site {
    pub(super) edge: u32,
    pub(super) service: u32,
    pub(super) link: u32,
    /// The engine of the calling process 0.
    pub(super) first_engine: u32,
    /// Where the program of the operation begins.
    pub(super) entry: Pc,
    pub(super) semantics: Operation,
    pub(super) optional: bool,
    pub(super) priority: Option<u8>,
    /// Whether anybody asks how important a job is, or whose.
    pub(super) asks_for_origin: bool,
    pub(super) way: Way,
    pub(super) lose_request: f64,
    pub(super) lose_response: f64,
}

/// How long a link takes, as the queue sees it.
#[derive(Clone, Copy, Debug)]
pub(super) enum Way {
    /// No time at all: the far end is reached in the same instant.
    Instant,
    /// Always the same.
    Constant(Lane),
    /// Drawn each time.
    Random,
    /// There is more to it than a link: see [`super::passage`].
    Staged,
}

impl Way {
    /// That of a link with this delay.
    pub(super) fn of(delay: &Law, queue: &mut EventQueue<Event>) -> Way {
        match delay {
            Law::Constant(Span::ZERO) => Way::Instant,
            Law::Constant(span) => Way::Constant(queue.lane(*span, Rank::Normal)),
            _ => Way::Random,
        }
    }
}

impl World {
    /// Takes the calls that are written with a link over another, or over itself again.
    #[cold]
    pub(super) fn set_link(&mut self, link: u32, over: u32) {
        let rule = &self.scenario.links[over as usize];
        let way = Way::of(&rule.delay, &mut self.queue);
        let mut passages = self.passages.as_deref_mut();
        let sites = self.scenario.sites.iter().enumerate();
        let sites = sites.filter(|(_, site)| site.link == link);
        for (index, _) in sites {
            let site = &mut self.sites[index];
            site.link = over;
            (site.lose_request, site.lose_response) = (rule.lose_request, rule.lose_response);
            match (site.way, &mut passages) {
                (Way::Staged, Some(passages)) => passages.set_way(index, way),
                _ => site.way = way,
            }
        }
    }
}

impl Site {
    pub(super) fn new(
        scenario: &Scenario,
        index: usize,
        first_engine: u32,
        queue: &mut EventQueue<Event>,
    ) -> Site {
        let site = scenario.sites[index];
        let edge = scenario.edges[site.edge as usize];
        let service = &scenario.services[edge.service as usize];
        let operation = &service.operations[site.operation as usize];
        let link = &scenario.links[site.link as usize];
        Site {
            edge: site.edge,
            service: edge.service,
            link: site.link,
            first_engine,
            entry: operation.entry,
            semantics: scenario.semantics(index as u32),
            optional: site.optional,
            priority: site.priority,
            asks_for_origin: scenario.services.iter().any(Service::asks_for_origin),
            way: match link.passage {
                None => Way::of(&link.delay, queue),
                Some(_) => Way::Staged,
            },
            lose_request: link.lose_request,
            lose_response: link.lose_response,
        }
    }
}
