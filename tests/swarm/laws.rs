//! What is true of every world, whatever it is made of. The conservation laws are looked at by the kernel after each run;
//! these are those that take more than one run, or the log of one.

use std::sync::Arc;

use sim::World;
use sim::metrics::{CallRecord, Counts, Ended, JobEnd, JobRecord, Outcome};
use sim::scenario::model::{Caller, FaultKind};
use sim::scenario::{Override, Scenario};

use super::draw::Drawn;

/// The first law that does not hold in a world.
///
/// # Panics
/// When the kernel does.
pub(super) fn broken(drawn: &Drawn, seed: u64) -> Option<String> {
    let scenario = Arc::new(drawn.scenario(&[]).ok()?);
    let plain = sim::run(&scenario, seed);
    None.or_else(|| looking_changes_nothing(&scenario, seed, &plain))
        .or_else(|| json_says_the_same(drawn, seed, &plain))
        .or_else(|| a_copy_goes_on_alike(&scenario, seed, &plain))
        .or_else(|| windows_sum_to_totals(&scenario, &plain))
        .or_else(|| finer_windows_change_nothing(drawn, seed, &plain))
        .or_else(|| strangers_change_nothing(drawn, &scenario, seed, &plain))
}

/// A run with a log and a ledger is the same run, and both say what was counted.
fn looking_changes_nothing(scenario: &Arc<Scenario>, seed: u64, plain: &Outcome) -> Option<String> {
    let world = World::new(Arc::clone(scenario), seed);
    let looked_at = world.with_log().with_ledger(10).run();
    if looked_at.trajectory != plain.trajectory {
        return Some("a log or a ledger changes the trajectory".into());
    }
    differ("a log or a ledger", &looked_at.drained, &plain.drained)
        .or_else(|| the_log_says_what_was_counted(scenario, &looked_at))
}

fn the_log_says_what_was_counted(scenario: &Scenario, outcome: &Outcome) -> Option<String> {
    let log = outcome.log.as_ref()?;
    let strange = |job: &JobRecord| {
        let started = job.started.unwrap_or(job.arrived);
        !(job.arrived <= started && started <= job.left && job.attempt >= 1)
    };
    if let Some(job) = log.jobs.iter().find(|job| strange(job)) {
        return Some(format!("a job out of time: {job:?}"));
    }
    let too_many = |call: &CallRecord| {
        let original = scenario.edges[call.edge as usize].policy;
        let within = |policy: u32| {
            let policy = scenario.policies[policy as usize].policy.spec();
            // Where layers have an order, the limit counts from the instant in which its layer is passed.
            let limit = policy.deadline.limit.filter(|_| policy.order.is_none());
            let late = limit.is_some_and(|limit| call.ended > call.began.after(limit));
            call.attempts <= policy.max_attempts() && !late
        };
        // It is held to the policy it began under, which may be one that took the place of the one it is written with.
        let changes = scenario.faults.iter().filter_map(|fault| match fault.kind {
            FaultKind::ChangePolicy { policy, to, .. } if policy == original => Some(to),
            _ => None,
        });
        let sound = std::iter::once(original).chain(changes).any(within);
        call.began > call.ended || !sound
    };
    if let Some(call) = log.calls.iter().find(|call| too_many(call)) {
        return Some(format!("a call beyond its policy: {call:?}"));
    }
    // The log is from the very start; counts are where nothing is left out.
    if outcome.measured_from != seawall::Time::ZERO {
        return None;
    }
    for (index, count) in outcome.drained.edges.iter().enumerate() {
        let ended = log.calls.iter().filter(|call| call.edge as usize == index);
        let (logged, counted) = (ended.count() as u64, count.ok + count.failed_calls());
        if logged != counted {
            let name = scenario.edge_name(&scenario.edges[index]);
            return Some(format!(
                "{name}: {logged} calls in the log, {counted} counted"
            ));
        }
    }
    for (index, count) in outcome.drained.services.iter().enumerate() {
        let of = |end: JobEnd| {
            let these = log.jobs.iter().filter(|job| job.service as usize == index);
            these.filter(|job| job.end == end).count() as u64
        };
        for (end, counted) in [
            (JobEnd::Served, count.served),
            (JobEnd::Failed, count.failed),
            (JobEnd::ShedFull, count.shed_full),
            (JobEnd::ShedExpired, count.shed_expired),
            (JobEnd::ShedWaited, count.shed_waited),
            (JobEnd::Faulted, count.faulted),
            (JobEnd::Cancelled, count.cancelled),
            (JobEnd::RateLimited, count.rate_limited),
            (JobEnd::Unreachable, count.unreachable),
            (JobEnd::Lost, count.lost),
        ] {
            let logged = of(end);
            if logged != counted {
                let name = &scenario.services[index].name;
                return Some(format!(
                    "{name}: {logged} {end:?} in the log, {counted} counted"
                ));
            }
        }
    }
    None
}

/// A scenario with its overrides written into it, in another format, is the same world.
fn json_says_the_same(drawn: &Drawn, seed: u64, plain: &Outcome) -> Option<String> {
    let rewritten = match drawn.as_json() {
        Ok(scenario) => sim::run(&Arc::new(scenario), seed),
        Err(problems) => return Some(format!("as JSON it is refused: {problems}")),
    };
    (rewritten.trajectory != plain.trajectory)
        .then(|| "as JSON it takes another trajectory".to_string())
}

/// A world that was copied half-way ends as the original does.
fn a_copy_goes_on_alike(scenario: &Arc<Scenario>, seed: u64, plain: &Outcome) -> Option<String> {
    let mut world = World::new(Arc::clone(scenario), seed);
    let half = seawall::Time(scenario.run.duration.0 / 2);
    if world.run_until(half).is_some() {
        return None;
    }
    let copy = world.clone().run();
    // A copy has no spare room, so it takes less memory.
    if plain.ended == Ended::MemoryLimit {
        return None;
    }
    if copy.trajectory != plain.trajectory {
        return Some("a copy made half-way takes another trajectory".into());
    }
    differ("a copy", &copy.drained, &plain.drained)
}

fn windows_sum_to_totals(scenario: &Scenario, plain: &Outcome) -> Option<String> {
    let (from, to) = (plain.measured_from, plain.measured_to);
    let across = (plain.windows.iter()).any(|w| w.start < from && from < w.end);
    if across {
        return None;
    }
    let mut sum = Counts::zero(scenario);
    for window in plain
        .windows
        .iter()
        .filter(|w| w.start >= from && w.end <= to)
    {
        sum.add(&window.counts);
    }
    differ("the sum of the windows", &sum, &plain.totals)
}

/// Measuring is looking: with windows of another length the same happens.
fn finer_windows_change_nothing(drawn: &Drawn, seed: u64, plain: &Outcome) -> Option<String> {
    let finer = Arc::new(
        drawn
            .scenario(&[Override::new("run.window", "330ms")])
            .ok()?,
    );
    let finer = sim::run(&finer, seed);
    // What is in memory is looked at when a window ends.
    if plain.ended != Ended::Completed || finer.ended != Ended::Completed {
        return None;
    }
    differ("finer windows", &finer.totals, &plain.totals)
        .or_else(|| differ("finer windows", &finer.drained, &plain.drained))
}

/// A client and a service of their own change nothing for the others: not one draw of theirs moves. Looked at while there are
/// arrivals: a run is over when nobody waits any more, and strangers who wait longer show more of the work for nobody.
fn strangers_change_nothing(
    drawn: &Drawn,
    scenario: &Scenario,
    seed: u64,
    plain: &Outcome,
) -> Option<String> {
    let strangers = [
        Override::new(
            "services.far",
            "{ replicas: 2, concurrency: 1, work: { exponential: 5ms } }",
        ),
        Override::new(
            "clients.stranger",
            "{ arrivals: { poisson: 40/s }, calls: [ { to: far, policy: outer } ] }",
        ),
    ];
    let more = Arc::new(drawn.scenario(&strangers).ok()?);
    let crowded = sim::run(&more, seed);
    if plain.ended != Ended::Completed || crowded.ended != Ended::Completed {
        return None;
    }
    let name = |scenario: &Scenario, index: usize| scenario.edge_name(&scenario.edges[index]);
    for (index, edge) in scenario.edges.iter().enumerate() {
        // Work that goes on for nobody is cut when the last call is over, be it a stranger's.
        let until = |outcome: &Outcome, edge_index: usize| match edge.caller {
            Caller::Client(_) => outcome.drained.edges[edge_index].clone(),
            Caller::Service(_) => outcome.totals.edges[edge_index].clone(),
        };
        let mine = name(scenario, index);
        let there = (0..more.edges.len()).find(|&other| name(&more, other) == mine);
        let (count, theirs) = (
            until(plain, index),
            there.map(|other| until(&crowded, other)),
        );
        if theirs.as_ref() != Some(&count) {
            return Some(format!(
                "strangers move {mine}: {theirs:?} instead of {count:?}"
            ));
        }
    }
    // How long a replica stood there after the last arrival is how long anybody's call was open.
    for (index, count) in plain.totals.services.iter().enumerate() {
        let theirs = &crowded.totals.services[index];
        if theirs != count {
            let name = &scenario.services[index].name;
            return Some(format!(
                "strangers move {name}: {theirs:?} instead of {count:?}"
            ));
        }
    }
    None
}

/// Where two counts differ.
fn differ(what: &str, one: &Counts, other: &Counts) -> Option<String> {
    let (one, other) = (format!("{one:#?}"), format!("{other:#?}"));
    let line = one.lines().zip(other.lines()).enumerate();
    let mut differing = line.filter(|(_, (one, other))| one != other);
    differing.next().map(|(number, (one, other))| {
        format!(
            "{what}: {} instead of {} (line {number} of the counts)",
            one.trim(),
            other.trim()
        )
    })
}
