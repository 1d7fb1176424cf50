//! A made-up outcome for tests of what reports and plots do with one. No kernel is run here.

use hdrhistogram::Histogram;
use seawall::{FailureKind, Operation, Phase, Span, Stopped, Time};
use sim::arrivals::Arrivals;
use sim::law::Law;
use sim::metrics::{
    ClientCount, Counts, EdgeCount, EdgeGauge, EdgeLatency, Ended, Outcome, ServiceCount,
    ServiceGauge, Window, WindowLatency,
};
use sim::scenario::model::{
    Balance, Caller, Client, ClientOperation, Discipline, Edge, Fault, FaultKind, Limits, Link,
    Policy, Queue, Run, Scenario, Service, ServiceOperation, Source,
};
use sim::step::{Code, Pc};

const LAYERS: [&str; 2] = ["api", "db"];

/// A client that calls `api`, which calls `db`; `db` is slow from 60 s to 70 s.
pub(crate) fn scenario() -> Scenario {
    let service = |name: &str| Service {
        name: name.into(),
        replicas: 2,
        balance: Balance::RoundRobin,
        concurrency: Some(8),
        queue: Queue {
            capacity: Some(500),
            discipline: Discipline::Fifo,
        },
        holds_worker: true,
        honours_cancellation: false,
        operations: vec![ServiceOperation {
            name: "default".into(),
            semantics: Operation::default(),
            entry: Pc(0),
        }],
        behaviour: None,
    };
    Scenario {
        title: "A sample".into(),
        description: String::new(),
        run: Run {
            duration: Span::secs(300),
            window: Span::secs(1),
            warmup: Span::secs(30),
            detect_warmup: false,
            drain: Span::secs(10),
            seed: 7,
            replications: 3,
            limits: Limits {
                events: u64::MAX,
                calls: u64::MAX,
                queue: u64::MAX,
                memory: u64::MAX,
                standstill: u64::MAX,
            },
            trigger: None,
        },
        clients: vec![Client {
            name: "web".into(),
            instances: 10,
            source: Source::Open(Arrivals::Poisson { rate: 900.0 }),
            operations: vec![ClientOperation {
                name: "default".into(),
                weight: 1.0,
                entry: Pc(0),
            }],
        }],
        services: LAYERS.map(service).into(),
        policies: ["none", "sdk"]
            .map(|name| Policy {
                name: name.into(),
                policy: seawall::Policy::default(),
            })
            .into(),
        links: vec![Link {
            name: "default".into(),
            delay: Law::Constant(Span::millis(1)),
            lose_request: 0.0,
            lose_response: 0.0,
            passage: None,
        }],
        edges: vec![
            Edge {
                caller: Caller::Client(0),
                service: 0,
                policy: 1,
            },
            Edge {
                caller: Caller::Service(0),
                service: 1,
                policy: 1,
            },
        ],
        sites: Vec::new(),
        code: Code::default(),
        faults: vec![Fault {
            at: Time(60_000_000_000),
            until: Some(Time(70_000_000_000)),
            kind: FaultKind::Slow {
                service: 1,
                factor: 3.0,
            },
        }],
        expect: Vec::new(),
        effects: None,
        fallbacks: None,
        passages: None,
        credentials: None,
        coalescing: None,
        caches: None,
        sessions: None,
    }
}

/// What a storm that does not end might leave behind; `amplification` attempts per call at `db`.
pub(crate) fn outcome(seed: u64, amplification: u64) -> Outcome {
    let windows: Vec<Window> = (0..300).map(|s| window(s, seed, amplification)).collect();
    let mut totals = Counts {
        clients: vec![ClientCount::default()],
        services: vec![ServiceCount::default(); 2],
        edges: vec![EdgeCount::default(); 2],
        ..Counts::default()
    };
    for window in &windows[30..] {
        totals.clients[0].add(&window.counts.clients[0]);
        for i in 0..2 {
            totals.services[i].add(&window.counts.services[i]);
            totals.edges[i].add(&window.counts.edges[i]);
        }
    }
    let latency = || EdgeLatency {
        calls: histogram(|i| if i < 700 { 3 + i / 50 } else { 1000 }),
        ok: histogram(|i| 3 + i / 50),
        attempts: histogram(|i| if i < 600 { 2 + i / 60 } else { 100 }),
        attempts_per_call: vec![0, 700, 100, 200],
    };
    Outcome {
        seed,
        ended: Ended::Completed,
        measured_from: Time(30_000_000_000),
        measured_to: Time(300_000_000_000),
        drained: totals.clone(),
        totals,
        windows,
        latency: vec![latency(), latency()],
        sojourn: vec![histogram(|i| 2 + i / 100), histogram(|i| 2 + i / 20)],
        open: vec![0, 0],
        events: 1_000_000 + seed,
        trajectory: seed.wrapping_mul(0x9E37_79B9_7F4A_7C15),
        calls_in_flight_max: 1234,
        log: None,
        ledger: None,
    }
}

fn histogram(ms: impl Fn(u64) -> u64) -> Histogram<u64> {
    let mut histogram = Histogram::new(3).expect("three digits");
    for i in 0..1000 {
        histogram
            .record(ms(i) * 1_000_000)
            .expect("it resizes itself");
    }
    histogram
}

fn window(second: u64, seed: u64, amplification: u64) -> Window {
    let noise = (second * 7919 + seed * 104_729) % 41;
    let calls = 880 + noise;
    let storm = second >= 60;
    let ok = if storm { 90 + noise } else { calls };
    let (factor, queue) = match second {
        0..60 => (1, noise % 5),
        60..70 => (
            1 + (amplification - 1) * (second - 60) / 10,
            (second - 60) * 100,
        ),
        _ => (amplification, 1000),
    };
    let edge = |calls: u64, attempts: u64| {
        let mut count = EdgeCount {
            calls,
            ok,
            attempts,
            retries: attempts - calls,
            latency_ns: u128::from(calls) * 120_000_000,
            ..EdgeCount::default()
        };
        count.stopped[Stopped::AttemptsUsed.index()] = calls - ok;
        count.failed[FailureKind::Timeout as usize] = calls - ok;
        count.attempt_failed[FailureKind::Timeout as usize] = attempts - ok;
        count.attempt_failed_in[Phase::Receive as usize] = attempts - ok;
        count
    };
    let service = |arrived: u64, first: u64| ServiceCount {
        arrived,
        arrived_first: first,
        shed_full: if storm { arrived / 3 } else { 0 },
        served: arrived - arrived / 3,
        started: arrived - arrived / 3,
        waited: arrived / 2,
        late: if storm { arrived / 3 } else { 0 },
        busy_ns: if storm {
            15_900_000_000
        } else {
            9_000_000_000 + u128::from(noise) * 10_000_000
        },
        wasted_ns: if storm { 14_000_000_000 } else { 0 },
        queue_ns: u128::from(queue) * 1_000_000_000,
        inside_ns: u128::from(queue + 10) * 1_000_000_000,
        sojourn_ns: u128::from(arrived) * 30_000_000,
        wait_ns: u128::from(arrived) * 20_000_000,
        ..ServiceCount::default()
    };
    let at_api = calls * factor.min(3);
    let at_db = calls * factor;
    let gauge = |queue| ServiceGauge {
        queue,
        queue_max: queue,
        workers_busy: if storm { 16 } else { 9 },
        workers: Some(16),
    };
    let breakers_open = if storm && second % 40 < 25 { 6 } else { 0 };
    let edge_gauge = EdgeGauge {
        in_flight: queue + 20,
        breakers_open,
        breakers_half_open: if breakers_open > 0 { 2 } else { 0 },
        breakers: 10,
    };
    let latency = WindowLatency {
        p50: 5_000_000,
        p99: 80_000_000,
        max: 1_000_000_000,
    };
    Window {
        start: Time(second * 1_000_000_000),
        end: Time((second + 1) * 1_000_000_000),
        counts: Counts {
            clients: vec![ClientCount {
                iterations: calls,
                iterations_ok: ok,
                iterations_failed: calls - ok,
            }],
            services: vec![service(at_api, calls), service(at_db, at_api.min(at_db))],
            edges: vec![edge(calls, at_api), edge(at_api, at_db.max(at_api))],
            ..Counts::default()
        },
        latency: vec![Some(latency), None],
        edges: vec![
            edge_gauge,
            EdgeGauge {
                in_flight: queue,
                ..EdgeGauge::default()
            },
        ],
        services: vec![gauge(queue / 10), gauge(queue)],
    }
}
