//! The AWS Architecture Blog's contention study: clients that read a row, write it, and lose when somebody else wrote in between
//! (optimistic concurrency control). The waits are seawall's; the row and the network are here.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use seawall::backoff::{AwsJitter, AwsJitterKind};
use seawall::{
    Action, Backoff, Call, CallKey, Client, Entropy, FailureKind, FailureSet, Operation, Policy,
    Reply, Request, Retry, Span, Spec, Time,
};
use sim::rng::{Purpose, Stream};

use crate::validate::case::Case;
use crate::validate::plan::{Experiment, Values};

const KINDS: [(&str, Option<AwsJitterKind>); 5] = [
    ("none", None),
    ("expo", Some(AwsJitterKind::None)),
    ("equal", Some(AwsJitterKind::Equal)),
    ("full", Some(AwsJitterKind::Full)),
    ("decorr", Some(AwsJitterKind::Decorrelated)),
];

/// One experiment with all kinds of backoff.
pub(super) fn experiments(case: &Case, scale: f64) -> Vec<Experiment> {
    let millis = |pointer: &str| Span::from_secs_f64(case.number(pointer) / 1e3);
    let jitter = |kind| AwsJitter {
        kind,
        base: millis("/backoff/base"),
        cap: millis("/backoff/cap"),
        first_exponent: case.number("/backoff/first_exponent") as u32,
    };
    let policies = KINDS.map(|(name, kind)| {
        let spec = Spec {
            retry: Retry {
                max_attempts: u32::MAX,
                backoff: kind.map_or(Backoff::None, |kind| Backoff::AwsJitter(jitter(kind))),
                on: FailureSet::of(&[FailureKind::Conflict]),
                ..Retry::default()
            },
            ..Spec::default()
        };
        (name, spec.check().expect("a valid policy"))
    });
    let clients = case.number("/clients") as usize;
    let leg = (
        case.number("/network_leg/mean"),
        case.number("/network_leg/sd"),
    );
    let replications = f64::from(case.run.replications.unwrap_or(1)) * scale;
    vec![Experiment::library(replications as u32, move |seed| {
        let mut values = Values::new();
        for (name, policy) in &policies {
            let row = Row::new(policy, clients, leg, Stream::new(seed, Purpose::Link, name));
            let (time, calls) = row.run(&mut Stream::new(seed, Purpose::Jitter, name));
            values.push((format!("time_{name}"), time.0 as f64 / 1e6));
            values.push((format!("calls_{name}"), calls as f64));
        }
        values
    })]
}

/// What arrives where.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Event {
    /// At the row: somebody asks which version it has.
    Read,
    /// At the client: this one.
    Version(u64),
    /// At the row: somebody writes over this version.
    Write(u64),
    /// At the client: done.
    Done,
    /// At the client: it was another version.
    Conflict,
}

struct Row {
    version: u64,
    writes: u64,
    clients: Vec<(Client, Call)>,
    events: BinaryHeap<Reverse<(Time, u32, Event)>>,
    network: Stream,
    /// Mean and standard deviation of a way, in ms.
    leg: (f64, f64),
}

impl Row {
    /// Everybody asks at once.
    fn new(policy: &Policy, clients: usize, leg: (f64, f64), network: Stream) -> Row {
        let request = Request {
            key: CallKey(0),
            deadline: None,
            operation: Operation::default(),
        };
        let clients = (0..clients).map(|_| {
            let mut client = Client::new(policy.clone(), Time::ZERO);
            let call = client.begin(Time::ZERO, request);
            (client, call)
        });
        Row {
            version: 0,
            writes: 0,
            clients: clients.collect(),
            events: BinaryHeap::new(),
            network,
            leg,
        }
    }

    /// When the last one is done, and how many writes it took.
    fn run(mut self, luck: &mut Stream) -> (Time, u64) {
        for i in 0..self.clients.len() {
            self.attempt(i as u32, Time::ZERO, luck);
        }
        let mut last = Time::ZERO;
        while let Some(Reverse((now, who, event))) = self.events.pop() {
            match event {
                Event::Read => self.send(now, who, Event::Version(self.version)),
                Event::Version(version) => {
                    self.writes += 1;
                    self.send(now, who, Event::Write(version));
                }
                Event::Write(version) if version == self.version => {
                    self.version += 1;
                    self.send(now, who, Event::Done);
                }
                Event::Write(_) => self.send(now, who, Event::Conflict),
                Event::Done => last = now,
                Event::Conflict => {
                    let (client, call) = &mut self.clients[who as usize];
                    let attempt = call.attempts();
                    client.on_reply(
                        call,
                        now,
                        attempt,
                        Reply::Failed(FailureKind::Conflict.into()),
                    );
                    self.attempt(who, now, luck);
                }
            }
        }
        (last, self.writes)
    }

    /// The next attempt of a client, after its wait.
    fn attempt(&mut self, who: u32, now: Time, luck: &mut Stream) {
        let (client, call) = &mut self.clients[who as usize];
        let mut at = now;
        loop {
            match client.poll(call, at, luck) {
                Some(Action::Send { .. }) => break,
                Some(_) => return,
                None => match call.timer() {
                    Some(timer) => {
                        at = timer;
                        client.on_timer(call, at);
                    }
                    None => return,
                },
            }
        }
        self.send(at, who, Event::Read);
    }

    fn send(&mut self, now: Time, who: u32, event: Event) {
        let at = now.after(self.way());
        self.events.push(Reverse((at, who, event)));
    }

    /// The absolute value of a normal (Box and Muller).
    fn way(&mut self) -> Span {
        let (u, v) = (self.network.unit(), self.network.unit());
        let standard = (-2.0 * libm::log1p(-u)).sqrt() * libm::cos(std::f64::consts::TAU * v);
        Span::from_secs_f64((self.leg.0 + self.leg.1 * standard).abs() / 1e3)
    }
}
