//! How the things of a scenario are called in reports.

mod policy;
mod server;
mod settings;
mod trouble;
mod way;

pub use policy::policy;
pub use server::server;
pub use settings::settings;
pub use way::ways;

use seawall::{Span, Time};
use sim::arrivals::Arrivals;
use sim::scenario::model::{Edge, Fault, FaultKind, Scenario, ServerLimit};
use sim::scenario::passage::PoolPlace;

use trouble::troubled;

use crate::number;

/// `caller -> service (policy)`: an edge in files.
#[must_use]
pub fn edge(scenario: &Scenario, edge: &Edge) -> String {
    scenario.edge_name(edge)
}

/// `caller → service`: an edge in pictures and tables. The policy is named only where another edge
/// has the same ends.
#[must_use]
pub fn arrow(scenario: &Scenario, edge: &Edge) -> String {
    let service = &scenario.services[edge.service as usize].name;
    let short = format!("{} → {service}", scenario.caller_name(edge.caller));
    let same_ends = |e: &&Edge| e.caller == edge.caller && e.service == edge.service;
    match scenario.edges.iter().filter(same_ends).count() {
        0 | 1 => short,
        _ => format!("{short} ({})", scenario.policies[edge.policy as usize].name),
    }
}

/// `service`, or `service.operation` where it has several: what a call site calls.
#[must_use]
pub fn called(scenario: &Scenario, site: u32) -> String {
    let call = scenario.sites[site as usize];
    let service = &scenario.services[scenario.edges[call.edge as usize].service as usize];
    match &service.operations[..] {
        [_] => service.name.clone(),
        several => format!("{}.{}", service.name, several[call.operation as usize].name),
    }
}

/// `caller -> service`, and the link where another one leads there as well: connections in files.
#[must_use]
pub fn pool(scenario: &Scenario, place: &PoolPlace) -> String {
    let service = &scenario.services[place.service as usize].name;
    let short = format!("{} -> {service}", scenario.caller_name(place.caller));
    let same_ends = |p: &&PoolPlace| p.caller == place.caller && p.service == place.service;
    let all = scenario.passages.iter().flat_map(|ways| &ways.pools);
    match all.filter(same_ends).count() {
        0 | 1 => short,
        _ => format!("{short} ({})", scenario.links[place.link as usize].name),
    }
}

/// A fault in a few words: `api 3× slower`.
#[must_use]
pub fn fault(scenario: &Scenario, fault: &Fault) -> String {
    let service = |i: &u32| &scenario.services[*i as usize].name;
    match &fault.kind {
        FaultKind::Slow { service: s, factor } => {
            format!("{} {} slower", service(s), number::times(*factor))
        }
        FaultKind::Errors {
            service: s,
            share,
            failure,
            after_program,
        } => {
            let (name, kind) = (service(s), failure.kind.name());
            let after = if *after_program {
                " after all is done"
            } else {
                ""
            };
            format!("{name} answers {} {kind}{after}", number::share(*share))
        }
        FaultKind::LoseCapacity { service: s, share } => {
            format!(
                "{} loses {} of its workers",
                service(s),
                number::share(*share)
            )
        }
        FaultKind::Outage { service: s } => format!("{} is down", service(s)),
        FaultKind::Certificate { service: s } => {
            format!("the certificate of {} is not accepted", service(s))
        }
        FaultKind::Revoke { credential } => {
            let all = scenario.credentials.iter().flat_map(|used| &used.all);
            let name = all.map(|c| c.name.as_str()).nth(*credential as usize);
            format!("{} is revoked", name.unwrap_or_default())
        }
        FaultKind::EmptyCache {
            service: s, share, ..
        } => {
            format!(
                "{} of the cache of {} is lost",
                number::share(*share),
                service(s)
            )
        }
        FaultKind::Refuse { service: s } => format!("{} refuses connections", service(s)),
        FaultKind::Load { client, factor } if scenario.clients[*client as usize].loops() => {
            format!(
                "{} of the instances of {} go on",
                number::share(*factor),
                scenario.clients[*client as usize].name
            )
        }
        FaultKind::Load { client, factor } => {
            format!(
                "{} load from {}",
                number::times(*factor),
                scenario.clients[*client as usize].name
            )
        }
        FaultKind::Replicas {
            service: s,
            replicas,
            trouble,
        } => troubled(service(s), *replicas, trouble),
        FaultKind::Throttle { service: s, rule } => {
            let most = match rule.limit {
                ServerLimit::Gcra(gcra) => {
                    format!(
                        "{} a second",
                        number::plain(1.0 / gcra.period.as_secs_f64())
                    )
                }
                ServerLimit::PerPeriod(limit) => format!(
                    "{} in {}",
                    limit.limit_for_period,
                    number::duration(limit.limit_refresh_period.as_secs_f64())
                ),
            };
            format!("{} lets in {most}", service(s))
        }
        FaultKind::KillSwitch { policy } => {
            format!(
                "no retries under {}",
                scenario.policies[*policy as usize].name
            )
        }
        FaultKind::ChangeLink { link, to } => {
            let name = |link: u32| &scenario.links[link as usize].name;
            format!("calls over {} go over {}", name(*link), name(*to))
        }
        FaultKind::ChangePolicy {
            policy,
            to,
            share,
            over,
        } => {
            let name = |policy: u32| &scenario.policies[policy as usize].name;
            let who = match *share {
                1.0 => "all processes".into(),
                share => format!("{} of the processes", number::share(share)),
            };
            let slowly = match *over {
                Span::ZERO => String::new(),
                over => format!(
                    ", one after another in {}",
                    number::duration(over.as_secs_f64())
                ),
            };
            format!(
                "{who} under {} go on under {}{slowly}",
                name(*policy),
                name(*to)
            )
        }
    }
}

/// When a fault acts: `60 s to 65 s`, `from 60 s on`.
#[must_use]
pub fn when(fault: &Fault) -> String {
    let at = |time: Time| number::duration(time.0 as f64 / 1e9);
    match fault.until {
        Some(until) if until == fault.at => format!("at {}", at(until)),
        Some(until) => format!("{} to {}", at(fault.at), at(until)),
        None => format!("from {} on", at(fault.at)),
    }
}

/// What happens and when, a line each; beyond `most` of them only how many more there are.
#[must_use]
pub fn faults(scenario: &Scenario, most: usize) -> Vec<String> {
    let named = scenario.faults.iter().take(most);
    let mut lines: Vec<String> = named
        .map(|it| format!("{}, {}", fault(scenario, it), when(it)))
        .collect();
    match scenario.faults.len().saturating_sub(most) {
        0 => {}
        1 => lines.push("and one more fault, as `check` says".into()),
        more => lines.push(format!("and {more} more faults, as `check` says")),
    }
    lines
}

/// An arrival process and its rate over a run of `duration`: `Poisson, 900 /s`.
#[must_use]
pub fn arrivals(arrivals: &Arrivals, duration: Span) -> String {
    let expected = arrivals.expected(Time::ZERO, Time::ZERO.after(duration));
    let rate = number::rate(expected / duration.as_secs_f64());
    match arrivals {
        Arrivals::Poisson { .. } => format!("Poisson, {rate}"),
        Arrivals::Paced { .. } => format!("evenly paced, {rate}"),
        Arrivals::Renewal { .. } => format!("independent gaps, {rate}"),
        Arrivals::Profile { .. } => format!("a profile, {rate} on average"),
        Arrivals::Trace(_) => format!("a recorded trace, {rate} on average"),
    }
}
