//! The callers' side of a simulated world, played to the production driver.

use std::collections::{BTreeMap, VecDeque};
use std::future::Future;
use std::pin::Pin;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll, Wake, Waker};

use seawall::{Action, CallKey, Entropy, Operation, Reply, Time};
use seawall_tower::{Attempt, CallFuture, Engine, Event, PolicyService, Protocol};
use sim::Scenario;
use sim::metrics::{Exchange, Said};
use sim::rng::{Purpose, Stream};
use sim::scenario::model::Caller;
use tokio::runtime::Builder;
use tokio::sync::oneshot;
use tokio::time::{Instant, advance};
use tower::Service;

/// What a caller asks, and where its attempts wait for their answers.
#[derive(Clone)]
struct Ask {
    deadline: Option<Instant>,
    operation: Operation,
    attempt: u32,
    answers: Answers,
    /// The hosts of its attempts, as the simulation chose them.
    hosts: Arc<Mutex<VecDeque<u32>>>,
}

/// Where each attempt waits for its answer, by number.
type Answers = Arc<Mutex<BTreeMap<u32, oneshot::Sender<Reply>>>>;

/// A dependency whose answers are told to it.
#[derive(Clone)]
struct Told;

type Answer = Pin<Box<dyn Future<Output = Result<Reply, oneshot::error::RecvError>> + Send>>;

impl Service<Ask> for Told {
    type Response = Reply;
    type Error = oneshot::error::RecvError;
    type Future = Answer;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Self::Error>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, ask: Ask) -> Answer {
        let (sender, receiver) = oneshot::channel();
        ask.answers.lock().unwrap().insert(ask.attempt, sender);
        Box::pin(receiver)
    }
}

impl Protocol<Ask, Reply, oneshot::error::RecvError> for Told {
    fn reply(&self, result: &Result<Reply, oneshot::error::RecvError>) -> Reply {
        *result.as_ref().expect("nobody lets an answer go")
    }

    fn copy(&self, ask: &Ask) -> Option<Ask> {
        Some(ask.clone())
    }

    fn operation(&self, ask: &Ask) -> Operation {
        ask.operation
    }

    fn deadline(&self, ask: &Ask) -> Option<Instant> {
        ask.deadline
    }

    fn prepare(&self, ask: &mut Ask, attempt: Attempt) {
        ask.attempt = attempt.number;
    }

    fn host(&self, ask: &Ask, _attempt: u32) -> u64 {
        let host = ask.hosts.lock().unwrap().pop_front();
        u64::from(host.expect("the simulation chose one"))
    }
}

/// The jitter of an edge, which its processes share in simulation.
struct Jitter(Arc<Mutex<Stream>>);

impl Entropy for Jitter {
    fn next_u64(&mut self) -> u64 {
        self.0.lock().unwrap().next_u64()
    }
}

#[derive(Default)]
struct Woken(AtomicBool);

impl Wake for Woken {
    fn wake(self: Arc<Self>) {
        self.0.store(true, Ordering::Relaxed);
    }
}

/// A call of the driver's.
struct Live {
    future: Pin<Box<CallFuture<Told, Told, Ask>>>,
    answers: Answers,
    woken: Arc<Woken>,
    /// When its timer is due, by what the driver reported.
    due: Option<Time>,
    over: bool,
}

impl Live {
    fn poll(&mut self) {
        self.woken.0.store(false, Ordering::Relaxed);
        let waker = Waker::from(Arc::clone(&self.woken));
        let polled = self.future.as_mut().poll(&mut Context::from_waker(&waker));
        self.over = polled.is_ready();
    }
}

/// The production side: services by edge and process, calls by the simulation's keys, and what was seen of them.
struct Stage {
    services: Vec<Vec<PolicyService<Told, Told>>>,
    calls: BTreeMap<CallKey, Live>,
    hosts: BTreeMap<CallKey, Arc<Mutex<VecDeque<u32>>>>,
    /// Edges whose policy hedges.
    hedged: Vec<bool>,
    seen: Arc<Mutex<Vec<(Time, Event)>>>,
    /// What the driver did and is yet to be compared.
    did: VecDeque<(CallKey, Action)>,
    epoch: Instant,
}

/// Plays `exchanges` of a run with `seed` to the driver.
///
/// # Panics
/// When the driver does anything else, or the same at another time.
pub(crate) fn replay(scenario: &Scenario, seed: u64, exchanges: &[Exchange]) {
    let runtime = Builder::new_current_thread()
        .enable_time()
        .start_paused(true)
        .build()
        .expect("a runtime");
    runtime.block_on(async {
        let mut stage = Stage::new(scenario, seed);
        for exchange in exchanges {
            if let (Some(key), Said::Host(host)) = (exchange.call, exchange.said) {
                let hosts = stage.hosts.entry(key).or_default();
                hosts.lock().unwrap().push_back(host);
            }
        }
        for exchange in exchanges {
            let now = stage.epoch + exchange.at.since(Time::ZERO).into();
            let ahead = now - Instant::now();
            if !ahead.is_zero() {
                advance(ahead).await;
            }
            stage.play(exchange);
        }
        assert_eq!(stage.did, [], "after the end");
    });
}

impl Stage {
    fn new(scenario: &Scenario, seed: u64) -> Stage {
        let seen = Arc::new(Mutex::new(Vec::new()));
        let edges = scenario.edges.iter().enumerate();
        let services = edges.map(|(index, edge)| {
            let name = scenario.edge_stream_name(index);
            let jitter = Stream::new(seed, Purpose::Jitter, &name);
            let jitter = Arc::new(Mutex::new(jitter));
            let processes = match edge.caller {
                Caller::Client(i) => scenario.clients[i as usize].instances,
                Caller::Service(i) => scenario.services[i as usize].replicas,
            };
            let policy = &scenario.policies[edge.policy as usize].policy;
            let process = |_| {
                let sink = Arc::clone(&seen);
                let observer =
                    move |at: Time, event: &Event| sink.lock().unwrap().push((at, *event));
                let jitter = Jitter(Arc::clone(&jitter));
                let engine = Engine::observed(policy.clone(), jitter, observer);
                PolicyService::new(Told, engine, Told)
            };
            (0..processes).map(process).collect()
        });
        Stage {
            services: services.collect(),
            calls: BTreeMap::new(),
            hosts: BTreeMap::new(),
            hedged: (scenario.edges.iter())
                .map(|edge| &scenario.policies[edge.policy as usize].policy)
                .map(|policy| policy.spec().hedge.is_some())
                .collect(),
            seen: Arc::clone(&seen),
            did: VecDeque::new(),
            epoch: Instant::now(),
        }
    }

    fn play(&mut self, exchange: &Exchange) {
        let Exchange { at, call, said, .. } = *exchange;
        // The driver asks its protocol and goes on at once.
        if matches!(said, Said::Host(_) | Said::Do(Action::Choose(_))) {
            return;
        }
        let service = &mut self.services[exchange.edge as usize][exchange.process as usize];
        if !matches!(said, Said::Do(_)) {
            assert_eq!(self.did, [], "before {exchange:?}");
        }
        let Some(key) = call else {
            let Said::KillSwitch(on) = said else {
                panic!("{exchange:?} is about no call");
            };
            service.engine().set_kill_switch(on);
            return;
        };
        match said {
            Said::Begin {
                deadline,
                operation,
            } => {
                let answers = Answers::default();
                let ask = Ask {
                    deadline: deadline.map(|d| service.engine().instant_of(d)),
                    operation,
                    attempt: 0,
                    answers: Arc::clone(&answers),
                    hosts: self.hosts.remove(&key).unwrap_or_default(),
                };
                let ready = service.poll_ready(&mut Context::from_waker(Waker::noop()));
                assert!(ready.is_ready());
                let mut live = Live {
                    future: Box::pin(service.call(ask)),
                    answers,
                    woken: Arc::default(),
                    due: None,
                    over: false,
                };
                live.poll();
                self.calls.insert(key, live);
            }
            Said::Answer { attempt, reply } => {
                let live = self.calls.get_mut(&key).expect("begun");
                let sender = live.answers.lock().unwrap().remove(&attempt);
                let sent = sender.expect("an attempt is out").send(reply);
                sent.expect("the driver waits for it");
                assert!(live.woken.0.load(Ordering::Relaxed));
                live.poll();
            }
            Said::Timer => {
                let live = self.calls.get_mut(&key).expect("begun");
                // The next copy of a hedged call is reported by nobody.
                let known = !self.hedged[exchange.edge as usize];
                assert!(
                    !known || live.due >= Some(at),
                    "the driver's timer was due before"
                );
                live.poll();
            }
            Said::Look => {
                let live = self.calls.get_mut(&key).expect("begun");
                live.poll();
            }
            Said::Cancel => drop(self.calls.remove(&key)),
            Said::Do(action) => self.compare(exchange, key, action),
            Said::Host(_) => unreachable!("seen above"),
            Said::KillSwitch(_) => panic!("{exchange:?} is about a call"),
        }
        self.look(at, key);
    }

    fn compare(&mut self, exchange: &Exchange, key: CallKey, action: Action) {
        if self.did.is_empty() {
            // Nothing was said to this call: it was given a permit.
            let live = self.calls.get_mut(&key).expect("begun");
            assert!(live.woken.0.load(Ordering::Relaxed), "{exchange:?}");
            live.poll();
            self.look(exchange.at, key);
        }
        let did = self.did.pop_front();
        assert_eq!(
            did,
            Some((key, action)),
            "the driver does what was decided, {exchange:?}"
        );
    }

    /// Takes down what the driver did about the call that something was said to.
    fn look(&mut self, now: Time, key: CallKey) {
        for (at, event) in self.seen.lock().unwrap().drain(..) {
            assert_eq!(at, now, "{event:?}");
            let mut due = None;
            match event {
                Event::Sent {
                    attempt,
                    timeout,
                    deadline,
                    ..
                } => {
                    due = timeout.map(|timeout| at.after(timeout));
                    let send = Action::Send {
                        attempt,
                        timeout,
                        deadline,
                    };
                    self.did.push_back((key, send));
                }
                Event::Waits { at_most, .. } => due = at_most.map(|wait| at.after(wait)),
                Event::Abandoned { attempt, .. } => {
                    self.did.push_back((key, Action::Abandon(attempt)));
                }
                Event::Ended { verdict, .. } => {
                    self.did.push_back((key, Action::Finish(verdict)));
                }
                _ => continue,
            }
            if let Some(live) = self.calls.get_mut(&key) {
                live.due = due;
            }
        }
        if self.calls.get(&key).is_some_and(|live| live.over) {
            self.calls.remove(&key);
        }
    }
}
