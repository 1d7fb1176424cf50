//! Worlds small enough to reckon by hand, built without the scenario language.

use std::sync::Arc;

use seawall::{
    Deadline, Failure, FailureKind, FailureSet, Operation, Phase, Reply, Retry, Span, Spec,
    Stopped, Time,
};

use super::{World, run};
use crate::arrivals::Arrivals;
use crate::law::Law;
use crate::metrics::{Ended, JobEnd, Outcome};
use crate::scenario::model::{
    Balance, CallSite, Caller, Client, ClientOperation, Discipline, Edge, Fault, FaultKind, Limits,
    Link, Policy, Queue, Run, Scenario, Service, ServiceOperation, Source,
};
use crate::step::{Code, Instr, Pc};

/// A client that calls one service once per arrival, under `spec`.
fn one_service(arrivals: Arrivals, work: Law, spec: Spec) -> Scenario {
    Scenario {
        title: String::new(),
        description: String::new(),
        run: Run {
            duration: Span::secs(1000),
            window: Span::secs(100),
            warmup: Span::ZERO,
            detect_warmup: false,
            drain: Span::secs(1000),
            seed: 0,
            replications: 1,
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
            instances: 1,
            source: Source::Open(arrivals),
            operations: vec![ClientOperation {
                name: "default".into(),
                weight: 1.0,
                entry: Pc(0),
            }],
        }],
        services: vec![Service {
            name: "api".into(),
            replicas: 1,
            balance: Balance::RoundRobin,
            concurrency: Some(1),
            queue: Queue {
                capacity: None,
                discipline: Discipline::Fifo,
            },
            holds_worker: true,
            honours_cancellation: false,
            operations: vec![ServiceOperation {
                name: "default".into(),
                semantics: Operation::default(),
                entry: Pc(2),
            }],
            behaviour: None,
        }],
        policies: vec![Policy {
            name: "p".into(),
            policy: spec.check().expect("a valid spec"),
        }],
        links: vec![Link {
            name: "default".into(),
            delay: Law::Constant(Span::ZERO),
            lose_request: 0.0,
            lose_response: 0.0,
            passage: None,
        }],
        edges: vec![Edge {
            caller: Caller::Client(0),
            service: 0,
            policy: 0,
        }],
        sites: vec![CallSite {
            edge: 0,
            operation: 0,
            link: 0,
            optional: false,
            priority: None,
        }],
        code: Code {
            instrs: vec![Instr::Call(0), Instr::End, Instr::Work(0), Instr::End],
            laws: vec![work],
            ..Code::default()
        },
        faults: Vec::new(),
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

fn outcome(scenario: Scenario) -> Outcome {
    run(&Arc::new(scenario), 42)
}

#[test]
fn a_quiet_world_serves_every_call() {
    let world = one_service(
        Arrivals::paced(1.0).expect("a rate"),
        Law::Constant(Span::millis(500)),
        Spec::default(),
    );
    let out = outcome(world);
    assert_eq!(out.ended, Ended::Completed);
    assert_eq!(out.totals.edges[0].calls, 1000);
    assert_eq!(out.drained.edges[0].ok, 1000);
    assert_eq!(out.drained.services[0].busy_ns, 500 * 1_000_000_000);
    assert_eq!(out.windows.len(), 10);
    assert_eq!(out.windows[3].counts.edges[0].ok, 100);
    assert_eq!(out.latency[0].ok.max() / 1_000_000, 500);
}

/// Attempt timeout 1 s and two attempts, at once.
fn impatient() -> Spec {
    Spec {
        attempt_timeout: Some(Span::secs(1)),
        retry: Retry {
            max_attempts: 2,
            on: FailureSet::of(&[FailureKind::Timeout, FailureKind::Unavailable]),
            ..Retry::default()
        },
        ..Spec::default()
    }
}

fn paced(work: Span, spec: Spec) -> Scenario {
    one_service(
        Arrivals::paced(0.25).expect("a rate"),
        Law::Constant(work),
        spec,
    )
}

#[test]
fn an_answer_in_the_nanosecond_of_the_timeout_is_in_time() {
    let out = outcome(paced(Span::secs(1), impatient()));
    assert_eq!(out.drained.edges[0].ok, 250);
    assert_eq!(out.drained.edges[0].attempts, 250);
    let late = outcome(paced(Span(1_000_000_001), impatient()));
    assert_eq!(late.drained.edges[0].ok, 0);
    assert_eq!(late.drained.edges[0].attempts, 500);
    assert_eq!(
        late.drained.edges[0].stopped[Stopped::AttemptsUsed.index()],
        250
    );
    assert_eq!(
        late.drained.edges[0].attempt_failed[FailureKind::Timeout as usize],
        500
    );
}

#[test]
fn work_for_a_caller_that_left_is_wasted_unless_the_service_notices() {
    let mut world = paced(Span::millis(1500), impatient());
    let blind = outcome(world.clone());
    // Each call's first attempt works 1 s for the caller and 0.5 s for nobody, the second the other way
    // round. The last call of the run ends while its second attempt has only just begun.
    let count = &blind.drained.services[0];
    assert_eq!(count.late, 499);
    assert_eq!(count.wasted_ns, 249 * 1_500_000_000 + 500_000_000);
    assert_eq!(
        (count.useful_ns, count.useless_ns),
        (0, 499 * 1_500_000_000)
    );
    world.services[0].honours_cancellation = true;
    let aware = outcome(world);
    let count = &aware.drained.services[0];
    assert_eq!((count.cancelled, count.wasted_ns), (500, 0));
    assert_eq!(count.useless_ns, 500 * 1_000_000_000);
}

#[test]
fn a_full_queue_refuses_at_once() {
    let mut world = one_service(
        Arrivals::paced(1.0).expect("a rate"),
        Law::Constant(Span::secs(10)),
        Spec::default(),
    );
    world.services[0].queue.capacity = Some(1);
    let out = outcome(world);
    let count = &out.drained.services[0];
    assert_eq!(count.arrived, 1000);
    assert_eq!(count.served + count.shed_full, 1000);
    assert_eq!(
        out.drained.edges[0].failed[FailureKind::Unavailable as usize],
        count.shed_full
    );
    assert_eq!(out.windows[1].services[0].queue_max, 1);
}

#[test]
fn failed_attempts_are_counted_by_kind_and_by_phase() {
    let mut world = paced(Span::millis(10), impatient());
    world.faults.push(Fault {
        at: Time::ZERO,
        until: None,
        kind: FaultKind::Errors {
            service: 0,
            share: 0.5,
            failure: Failure {
                phase: Phase::Tls,
                ..FailureKind::Internal.into()
            },
            after_program: false,
        },
    });
    world.links[0].lose_response = 0.5;
    let out = outcome(world);
    let count = &out.drained.edges[0];
    let in_phase = |phase: Phase| count.attempt_failed_in[phase as usize];
    let of_kind = |kind: FailureKind| count.attempt_failed[kind as usize];
    assert!(in_phase(Phase::Tls) > 0 && in_phase(Phase::Receive) > 0);
    assert_eq!(in_phase(Phase::Tls), of_kind(FailureKind::Internal));
    assert_eq!(in_phase(Phase::Receive), of_kind(FailureKind::Timeout));
    let all: u64 = count.attempt_failed.iter().sum();
    assert_eq!(count.attempt_failed_in.iter().sum::<u64>(), all);
}

#[test]
fn a_lost_response_was_served_and_a_lost_request_was_not() {
    let mut world = paced(Span::millis(10), impatient());
    world.links[0].lose_response = 1.0;
    let out = outcome(world.clone());
    assert_eq!(
        (out.drained.services[0].served, out.drained.edges[0].ok),
        (500, 0)
    );
    world.links[0].lose_response = 0.0;
    world.links[0].lose_request = 1.0;
    let out = outcome(world);
    assert_eq!(
        (out.drained.services[0].arrived, out.drained.edges[0].ok),
        (0, 0)
    );
    assert_eq!(out.drained.edges[0].attempts, 500);
}

#[test]
fn an_outage_swallows_what_is_inside_and_what_arrives() {
    let mut world = paced(Span::millis(500), impatient());
    world.faults.push(Fault {
        at: Time(2_100_000_000),
        until: Some(Time(10_000_000_000)),
        kind: FaultKind::Outage { service: 0 },
    });
    let out = outcome(world);
    // Arrivals at 2, 6 and 10 s: the first is inside when the outage begins, and both attempts of the
    // second fall into it. The first's retry at 3 s vanishes too; at 10 s the world is whole again.
    assert_eq!(out.drained.services[0].lost, 4);
    assert_eq!(out.drained.edges[0].failed_calls(), 2);
    assert_eq!(out.drained.edges[0].ok, 248);
}

#[test]
fn every_discipline_serves_everybody_and_lifo_turns_the_order() {
    let batch = |discipline| {
        let mut world = one_service(
            Arrivals::paced(10.0).expect("a rate"),
            Law::Constant(Span::secs(1)),
            Spec::default(),
        );
        world.services[0].queue.discipline = discipline;
        world.run.duration = Span::secs(2);
        outcome(world)
    };
    let (fifo, lifo) = (batch(Discipline::Fifo), batch(Discipline::Lifo));
    assert_eq!(fifo.drained.edges[0].ok, 20);
    assert_eq!(lifo.drained.edges[0].ok, 20);
    // The means agree, whatever the order; the longest wait does not.
    assert_eq!(
        fifo.drained.services[0].wait_ns,
        lifo.drained.services[0].wait_ns
    );
    assert!(lifo.latency[0].ok.max() > fifo.latency[0].ok.max());
}

#[test]
fn deadline_drop_sheds_what_nobody_waits_for() {
    let spec = Spec {
        deadline: Deadline {
            limit: Some(Span::secs(2)),
            ..Deadline::default()
        },
        ..Spec::default()
    };
    let mut world = one_service(
        Arrivals::paced(2.0).expect("a rate"),
        Law::Constant(Span::secs(1)),
        spec,
    );
    world.services[0].queue.discipline = Discipline::DeadlineDrop;
    let out = outcome(world);
    assert!(out.drained.services[0].shed_expired > 400);
    // Nothing is started for a caller that has left, yet hardly any work is in time: whoever is next
    // has waited for almost two seconds. Dropping late is not the same as serving early.
    let count = &out.drained.services[0];
    assert!(count.wait_ns <= u128::from(count.started) * 2_000_000_000);
    assert!(out.drained.edges[0].ok < 10);
}

#[test]
fn the_same_seed_gives_the_same_trajectory_and_another_seed_another() {
    let world = |_| {
        one_service(
            Arrivals::poisson(0.8).expect("a rate"),
            Law::exponential(Span::secs(1)).expect("a law"),
            impatient(),
        )
    };
    let run = |seed| run(&Arc::new(world(())), seed);
    assert_eq!(run(1).trajectory, run(1).trajectory);
    assert_ne!(run(1).trajectory, run(2).trajectory);
}

#[test]
fn a_limit_ends_the_run_by_name_with_what_was_computed_kept() {
    let mut world = paced(Span::millis(10), impatient());
    world.run.limits.events = 100;
    let out = outcome(world);
    assert_eq!(out.ended, Ended::EventLimit);
    assert!(out.totals.edges[0].ok > 10);
    assert!(!out.windows.is_empty());
    let mut world = one_service(
        Arrivals::paced(10.0).expect("a rate"),
        Law::Constant(Span::secs(100)),
        Spec::default(),
    );
    world.run.limits.queue = 50;
    assert_eq!(outcome(world.clone()).ended, Ended::QueueLimit);
    world.run.limits = Limits {
        events: u64::MAX,
        calls: 20,
        queue: u64::MAX,
        memory: u64::MAX,
        standstill: u64::MAX,
    };
    assert_eq!(outcome(world.clone()).ended, Ended::CallLimit);
    // 10 000 calls come, of which ten are served; each that waits takes more than a hundred bytes.
    world.run.limits = Limits {
        memory: 1_000_000,
        calls: u64::MAX,
        ..world.run.limits
    };
    let out = outcome(world);
    assert_eq!(out.ended, Ended::MemoryLimit);
    assert!(out.calls_in_flight_max < 9_000);
}

#[test]
fn a_world_in_which_no_time_passes_is_ended_by_name() {
    let mut world = paced(Span::ZERO, Spec::default());
    world.clients[0].source = Source::Loop {
        start: Law::Constant(Span::ZERO),
    };
    world.run.limits.standstill = 10_000;
    let out = outcome(world.clone());
    assert_eq!(out.ended, Ended::StandstillLimit);
    assert!((10_000..=20_000).contains(&out.events), "{}", out.events);
    // Many events are no standstill as long as time passes.
    world.code.laws[0] = Law::Constant(Span(1_000));
    world.run.limits.events = 200_000;
    assert_eq!(outcome(world).ended, Ended::EventLimit);
}

#[test]
fn an_interrupted_world_keeps_what_was_computed() {
    let scenario = Arc::new(paced(Span::millis(10), impatient()));
    let mut world = World::new(scenario, 42);
    assert_eq!(world.run_for(Time::MAX, 200), None);
    let stopped_at = world.now();
    world.interrupt();
    let out = world.run();
    assert_eq!(out.ended, Ended::Interrupted);
    assert_eq!(out.measured_to, stopped_at);
    assert!(out.totals.edges[0].ok > 10);
}

/// A gateway in front of the service, written as flat code: client -> gateway -> api.
fn with_gateway(holds_worker: bool) -> Scenario {
    let mut world = one_service(
        Arrivals::paced(1.0).expect("a rate"),
        Law::Constant(Span::millis(2500)),
        Spec::default(),
    );
    let gateway = Service {
        name: "gateway".into(),
        concurrency: Some(1),
        holds_worker,
        operations: vec![ServiceOperation {
            name: "default".into(),
            semantics: Operation::default(),
            entry: Pc(4),
        }],
        ..world.services[0].clone()
    };
    world.services[0].concurrency = None;
    world.services.push(gateway);
    world.edges = vec![
        Edge {
            caller: Caller::Client(0),
            service: 1,
            policy: 0,
        },
        Edge {
            caller: Caller::Service(1),
            service: 0,
            policy: 0,
        },
    ];
    world.sites = vec![
        CallSite {
            edge: 0,
            operation: 0,
            link: 0,
            optional: false,
            priority: None,
        },
        CallSite {
            edge: 1,
            operation: 0,
            link: 0,
            optional: false,
            priority: None,
        },
    ];
    world.code.instrs.extend([Instr::Call(1), Instr::End]);
    world.run.duration = Span::secs(100);
    world
}

#[test]
fn a_gateway_that_holds_its_worker_is_as_slow_as_what_it_calls() {
    let held = outcome(with_gateway(true));
    let free = outcome(with_gateway(false));
    assert_eq!(
        held.latency[0].ok.max() / 1_000_000_000,
        151,
        "the last of 100 waits for 99 x 1.5 s"
    );
    assert_eq!(
        free.latency[0].ok.max() / 1_000_000,
        2501,
        "three digits above 2500 ms"
    );
    assert_eq!(free.drained.services[1].busy_ns, 0);
    assert_eq!(held.drained.services[1].busy_ns, 100 * 2_500_000_000);
}

#[test]
fn programs_branch_repeat_and_respond() {
    // choose(1: nothing) ; parallel(work, work) ; repeat 3 x work ; respond ; work
    let mut world = one_service(
        Arrivals::paced(0.05).expect("a rate"),
        Law::Constant(Span::secs(1)),
        Spec::default(),
    );
    world.code.instrs = vec![
        Instr::Call(0),
        Instr::End,
        Instr::Choose { first: 0, count: 1 },
        Instr::Work(0),
        Instr::Parallel { first: 0, count: 2 },
        Instr::Repeat {
            times: 3,
            body: Pc(12),
        },
        Instr::Respond(0),
        Instr::Work(0),
        Instr::End,
        Instr::Work(0),
        Instr::End,
        Instr::End,
        Instr::Work(0),
        Instr::End,
        Instr::Jump(Pc(4)),
    ];
    world.code.branches = vec![Pc(9), Pc(9)];
    world.code.arms = vec![(1.0, Pc(14))];
    world.code.replies = vec![Reply::Ok];
    let out = outcome(world);
    assert_eq!(out.drained.edges[0].ok, 50);
    // One second for both branches, three for the rounds; the last second is after the answer.
    assert_eq!(out.latency[0].ok.max() / 1_000_000, 4001);
    assert_eq!(out.totals.services[0].busy_ns, 50 * 5_000_000_000);
    assert_eq!(out.totals.services[0].wasted_ns, 0);
}

#[test]
fn a_log_changes_nothing_and_agrees_with_the_counts() {
    let world = || {
        let mut world = one_service(
            Arrivals::poisson(1.1).expect("a rate"),
            Law::exponential(Span::secs(1)).expect("a law"),
            impatient(),
        );
        world.services[0].queue.capacity = Some(5);
        world.services[0].honours_cancellation = true;
        Arc::new(world)
    };
    let plain = run(&world(), 3);
    let logged = World::new(world(), 3).with_log().run();
    assert_eq!(plain.trajectory, logged.trajectory);
    let log = logged.log.expect("asked for");
    let count = &logged.drained.services[0];
    let ends = |end| log.jobs.iter().filter(|j| j.end == end).count() as u64;
    assert_eq!(ends(JobEnd::Served), count.served);
    assert_eq!(ends(JobEnd::Cancelled), count.cancelled);
    assert_eq!(ends(JobEnd::ShedFull), count.shed_full);
    assert!(count.served > 100 && count.cancelled > 100 && count.shed_full > 0);
    assert_eq!(log.calls.len() as u64, logged.drained.edges[0].calls);
    assert!(
        log.jobs
            .iter()
            .all(|j| j.arrived <= j.left && j.started.is_none_or(|s| s <= j.left))
    );
}

/// gateway: `before`, then two branches that each call the api and work `after`.
fn fan_out(before: Span, after: [Option<Span>; 2]) -> Scenario {
    let mut world = with_gateway(false);
    world.code.laws = vec![Law::Constant(Span::millis(500)), Law::Constant(before)];
    world.code.instrs.truncate(4);
    let code = &mut world.code;
    code.instrs.push(Instr::Work(1));
    code.instrs.push(Instr::Parallel { first: 0, count: 2 });
    code.instrs.push(Instr::End);
    for work in after {
        code.branches.push(Pc(code.instrs.len() as u32));
        match work {
            // Works only.
            Some(work) => {
                code.laws.push(Law::Constant(work));
                code.instrs.push(Instr::Work(code.laws.len() as u32 - 1));
            }
            // Calls, then works as long as before.
            None => code.instrs.extend([Instr::Call(1), Instr::Work(1)]),
        }
        code.instrs.push(Instr::End);
    }
    world
}

#[test]
fn branches_of_one_job_share_its_worker_and_never_wait_for_each_other_for_ever() {
    // Both branches come back in one instant, and at full load others always want the worker.
    let mut world = fan_out(Span::millis(20), [None, None]);
    world.clients[0].source = Source::Open(Arrivals::paced(30.0).expect("a rate"));
    let out = outcome(world);
    assert_eq!(out.drained.edges[0].ok, out.drained.edges[0].calls);
    assert_eq!(out.drained.edges[0].calls, 3000);
}

#[test]
fn a_job_that_only_waits_lends_its_worker_whichever_branch_ended_last() {
    let mut world = fan_out(Span::millis(10), [Some(Span::millis(10)), None]);
    world.clients[0].source = Source::Open(Arrivals::paced(1.0).expect("a rate"));
    let out = outcome(world);
    // 10 ms before, 10 ms in the first branch and 10 ms after the call; not the 500 ms of the call.
    assert_eq!(out.drained.services[1].busy_ns, 100 * 30_000_000);
}

#[test]
fn a_storm_that_takes_no_time_still_ends_at_its_limit() {
    let mut world = paced(Span::secs(10), Spec::default());
    world.clients[0].source = Source::Loop {
        start: Law::Constant(Span::ZERO),
    };
    world.faults.push(Fault {
        at: Time::ZERO,
        until: None,
        kind: FaultKind::Refuse { service: 0 },
    });
    world.run.limits.events = 10_000;
    assert_eq!(outcome(world).ended, Ended::EventLimit);
}

#[test]
fn a_lost_attempt_is_as_long_as_the_caller_waited_for_it() {
    let mut world = paced(Span::millis(10), impatient());
    world.links[0].lose_request = 1.0;
    let out = outcome(world);
    assert_eq!(out.latency[0].attempts.len(), 500);
    assert_eq!(
        out.latency[0].attempts.min() / 1_000_000,
        999,
        "three digits below 1 s"
    );
}

#[test]
fn a_window_ends_before_what_happens_at_its_end() {
    // Arrivals at 2, 6, 10 … s, each answered 3 s later.
    let mut world = paced(Span::secs(3), Spec::default());
    world.run.window = Span::secs(5);
    let out = outcome(world);
    // The first answer comes at exactly 5 s, the end of the first window and the begin of the second.
    assert_eq!(out.windows[0].counts.edges[0].ok, 0);
    assert_eq!(out.windows[1].counts.edges[0].ok, 2);
}

#[test]
fn deadline_drop_looks_at_jobs_that_need_not_wait_too() {
    let spec = Spec {
        deadline: Deadline {
            limit: Some(Span::secs(1)),
            ..Deadline::default()
        },
        ..Spec::default()
    };
    let mut world = paced(Span::millis(10), spec);
    world.links[0].delay = Law::Constant(Span::secs(2));
    world.services[0].queue.discipline = Discipline::DeadlineDrop;
    let out = outcome(world);
    assert_eq!(out.drained.services[0].started, 0);
    assert!(out.drained.services[0].shed_expired > 0);
}

#[test]
fn utilisation_is_of_the_workers_there_are() {
    let mut world = paced(Span::secs(2), Spec::default());
    world.services[0].concurrency = Some(4);
    world.faults.push(Fault {
        at: Time::ZERO,
        until: None,
        kind: FaultKind::LoseCapacity {
            service: 0,
            share: 0.75,
        },
    });
    let out = outcome(world);
    assert_eq!(out.totals.services[0].utilisation(), Some(0.5));
    assert_eq!(out.windows[0].services[0].workers, Some(1));
}
