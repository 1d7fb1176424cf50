//! What can be said about a scenario before it runs: who calls whom, and how much one call can become.

use seawall::Span;

use super::model::{Caller, Edge, Scenario};
use super::reach::Reach;
use super::repeats::factor;
use crate::step::{Instr, Lookup, Pc};

/// Bounds that hold whatever happens during a run.
#[derive(Clone, Debug)]
pub struct Topology {
    /// By call site: the most attempts one call there can cause at each service (by index), all layers
    /// below included. Infinite where a policy sets no limit.
    ///
    /// The product of the attempts of each layer on the way down, summed over the calls of a program
    /// (`repeat` as often as it says, of the arms of a `choose` the worst). Attempts that an operation never allows
    /// ([`Scenario::most_attempts`]) are not counted.
    pub attempts_per_call: Vec<Vec<f64>>,
    /// By service: the most attempts that one call of a client can cause there, the worst over all call
    /// sites of clients. No run's amplification is higher.
    pub worst_amplification: Vec<f64>,
    /// By edge: the longest a call can take until it is given up; `None` is for ever. Of the call sites that are never
    /// called only where there is no other.
    pub deadlines: Vec<Option<Span>>,
    /// The same by call site.
    pub site_deadlines: Vec<Option<Span>>,
    /// Which calls are made, and which of them lead to which.
    pub reach: Reach,
}

impl Topology {
    /// Works it out.
    #[must_use]
    pub fn of(scenario: &Scenario) -> Topology {
        let mut work = Work {
            scenario,
            blocks: vec![None; scenario.code.instrs.len()],
            sites: vec![None; scenario.sites.len()],
        };
        let sites = 0..scenario.sites.len() as u32;
        let attempts_per_call: Vec<Vec<f64>> = sites.map(|site| work.site(site)).collect();
        let reach = Reach::of(scenario);
        let site_deadlines = deadlines(scenario, &reach);
        let mut worst = vec![0.0; scenario.services.len()];
        for (index, attempts) in attempts_per_call.iter().enumerate() {
            let edge = scenario.edges[scenario.sites[index].edge as usize];
            if reach.called[index] && matches!(edge.caller, Caller::Client(_)) {
                raise(&mut worst, attempts);
            }
        }
        Topology {
            attempts_per_call,
            worst_amplification: worst,
            deadlines: longest(scenario, &reach, &site_deadlines),
            site_deadlines,
            reach,
        }
    }
}

struct Work<'a> {
    scenario: &'a Scenario,
    /// By address: what running on from there can cause.
    blocks: Vec<Option<Vec<f64>>>,
    /// By call site.
    sites: Vec<Option<Vec<f64>>>,
}

impl Work<'_> {
    /// What one call at a site can cause: its attempts, and what each of them can cause below.
    fn site(&mut self, site: u32) -> Vec<f64> {
        if let Some(known) = &self.sites[site as usize] {
            return known.clone();
        }
        let call = self.scenario.sites[site as usize];
        let Edge { service, .. } = self.scenario.edges[call.edge as usize];
        let attempts = factor(self.scenario.most_attempts(site));
        let service = service as usize;
        let entry = self.scenario.services[service].operations[call.operation as usize].entry;
        let mut caused = self.block(entry);
        if let Some(messages) = self.scenario.services[service].messages() {
            let deliveries = messages.max_receives.map_or(f64::INFINITY, f64::from);
            scale(&mut caused, deliveries);
        }
        caused[service] += 1.0;
        scale(&mut caused, attempts);
        self.sites[site as usize] = Some(caused.clone());
        caused
    }

    fn block(&mut self, entry: Pc) -> Vec<f64> {
        if let Some(known) = &self.blocks[entry.0 as usize] {
            return known.clone();
        }
        let mut caused = vec![0.0; self.scenario.services.len()];
        let mut pc = entry;
        loop {
            let code = &self.scenario.code;
            let next = Pc(pc.0 + 1);
            pc = match code.instrs[pc.0 as usize] {
                Instr::Work(_)
                | Instr::Delay(_)
                | Instr::Hold(_)
                | Instr::Respond(_)
                | Instr::Effect(_)
                | Instr::Otherwise(_)
                | Instr::Claim(_)
                | Instr::Stored(_) => next,
                Instr::Call(site) => {
                    add(&mut caused, &self.site(site));
                    next
                }
                Instr::Parallel { first, count } => {
                    for &branch in code.branches_of(first, count) {
                        add(&mut caused, &self.block(branch));
                    }
                    next
                }
                Instr::Repeat { times, body } => {
                    let mut body = self.block(body);
                    scale(&mut body, f64::from(times));
                    add(&mut caused, &body);
                    next
                }
                Instr::Choose { first, count } => {
                    // Each arm jumps to what follows, so an arm's block is all the rest.
                    let mut worst = vec![0.0; caused.len()];
                    for &(_, arm) in code.arms_of(first, count) {
                        raise(&mut worst, &self.block(arm));
                    }
                    add(&mut caused, &worst);
                    break;
                }
                Instr::Lookup(cache) => {
                    let Lookup { hit, miss, .. } = code.lookups[cache as usize];
                    let mut worst = self.block(miss);
                    if let Some(hit) = hit {
                        raise(&mut worst, &self.block(hit));
                    }
                    add(&mut caused, &worst);
                    next
                }
                Instr::Jump(to) => to,
                Instr::End => break,
            }
        }
        self.blocks[entry.0 as usize] = Some(caused.clone());
        caused
    }
}

fn add(sum: &mut [f64], other: &[f64]) {
    sum.iter_mut()
        .zip(other)
        .for_each(|(sum, other)| *sum += other);
}

fn raise(most: &mut [f64], other: &[f64]) {
    most.iter_mut()
        .zip(other)
        .for_each(|(most, other)| *most = most.max(*other));
}

/// Nothing stays nothing, even infinitely often.
fn scale(all: &mut [f64], factor: f64) {
    all.iter_mut()
        .filter(|value| **value > 0.0)
        .for_each(|value| *value *= factor);
}

/// The longest deadline at each call site: its own, or an earlier one its caller passes on.
fn deadlines(scenario: &Scenario, reach: &Reach) -> Vec<Option<Span>> {
    let mut longest: Vec<Option<Span>> = vec![None; scenario.sites.len()];
    let keeps = |service: u32| {
        let messages = scenario.services[service as usize].messages();
        messages.is_some()
    };
    // Calls go in no circle; as many rounds as there are call sites pass on every deadline there is.
    for _ in 0..scenario.sites.len() {
        let before = longest.clone();
        for (index, site) in scenario.sites.iter().enumerate() {
            // What the calls come with that cause this one; without any, nothing is passed on.
            let above: Vec<Option<Span>> = match scenario.edges[site.edge as usize].caller {
                Caller::Client(_) => vec![None],
                // Nobody waits for what a consumer does.
                Caller::Service(caller) if keeps(caller) => vec![None],
                Caller::Service(_) => {
                    let above = reach.above[index].iter();
                    let passed_on = |above: &u32| {
                        let propagate = scenario.spec(*above).deadline.propagate;
                        before[*above as usize].filter(|_| propagate)
                    };
                    above.map(passed_on).collect()
                }
            };
            let own = scenario.spec(index as u32).deadline;
            let until = |passed_on: Option<Span>| {
                let inherited = passed_on
                    .filter(|_| own.inherit)
                    .map(|span| span.minus(own.slack));
                match (own.limit, inherited) {
                    (Some(limit), Some(inherited)) => Some(limit.min(inherited)),
                    (one, other) => one.or(other).or(own.default),
                }
            };
            // Any of them may be the cause, and one that is for ever makes the longest for ever.
            let each: Option<Vec<Span>> = above.into_iter().map(until).collect();
            longest[index] = each.and_then(|each| each.into_iter().max().or(until(None)));
        }
        if longest == before {
            break;
        }
    }
    longest
}

/// The longest deadline of each edge: of its call sites that are called, or else of all of them.
fn longest(scenario: &Scenario, reach: &Reach, of_sites: &[Option<Span>]) -> Vec<Option<Span>> {
    let of_edge = |edge: usize| {
        let sites = scenario.sites.iter().enumerate();
        let sites = sites.filter(move |(_, site)| site.edge as usize == edge);
        sites.map(|(site, _)| site)
    };
    let edges = 0..scenario.edges.len();
    edges
        .map(|edge| {
            let mut sites: Vec<usize> = of_edge(edge).filter(|s| reach.called[*s]).collect();
            if sites.is_empty() {
                sites = of_edge(edge).collect();
            }
            let each: Option<Vec<Span>> = sites.iter().map(|site| of_sites[*site]).collect();
            each.and_then(|each| each.into_iter().max())
        })
        .collect()
}
