//! What a program does on average, and how often each is run.

use sim::law::Law;
use sim::scenario::model::{Scenario, Source};
use sim::step::{Instr, Lookup, Pc};

use seawall::Time;

/// What one run of a program comes to on average when nothing fails; times in seconds.
#[derive(Clone, Debug)]
pub(super) struct Program {
    /// Time that needs a worker.
    pub(super) work: f64,
    /// Time its own steps take, calls left out.
    pub(super) own: f64,
    /// From begin to end; of branches side by side the longest mean, so at least this.
    pub(super) whole: f64,
    /// From begin to the answer.
    answer: Option<f64>,
    /// By call site: how often it is called.
    pub(super) visits: Vec<f64>,
}

/// Every program that begins somewhere, by address.
#[derive(Debug)]
pub(super) struct Programs(Vec<Option<Program>>);

impl Programs {
    pub(super) fn of(scenario: &Scenario) -> Programs {
        let mut work = Work {
            scenario,
            known: vec![None; scenario.code.instrs.len()],
        };
        let clients = scenario.clients.iter().flat_map(|c| &c.operations);
        let services = scenario.services.iter().flat_map(|s| &s.operations);
        for entry in clients
            .map(|o| o.entry)
            .chain(services.map(|o| o.entry))
            .collect::<Vec<_>>()
        {
            work.program(entry);
        }
        Programs(work.known)
    }

    /// The program at the entry of an operation.
    pub(super) fn at(&self, entry: Pc) -> &Program {
        self.0[entry.0 as usize]
            .as_ref()
            .expect("all entries have been worked out")
    }
}

struct Work<'a> {
    scenario: &'a Scenario,
    known: Vec<Option<Program>>,
}

impl Work<'_> {
    fn program(&mut self, entry: Pc) -> Program {
        if let Some(known) = &self.known[entry.0 as usize] {
            return known.clone();
        }
        let nothing = Program {
            work: 0.0,
            own: 0.0,
            whole: 0.0,
            answer: None,
            visits: vec![0.0; self.scenario.sites.len()],
        };
        let mut sum = nothing.clone();
        let code = &self.scenario.code;
        let mean = |law: u32| code.laws[law as usize].mean().unwrap_or(f64::INFINITY);
        let mut pc = entry;
        loop {
            let next = Pc(pc.0 + 1);
            pc = match code.instrs[pc.0 as usize] {
                Instr::Work(law) => {
                    sum.work += mean(law);
                    sum.own += mean(law);
                    sum.whole += mean(law);
                    next
                }
                Instr::Delay(law) => {
                    sum.own += mean(law);
                    sum.whole += mean(law);
                    next
                }
                Instr::Hold(session) => {
                    let used = self.scenario.sessions.as_deref();
                    let rule = used.and_then(|used| used.all.get(session as usize));
                    let lasts = rule.and_then(|rule| rule.lasts.as_ref());
                    let lasts = lasts.and_then(Law::mean).unwrap_or(f64::INFINITY);
                    sum.own += lasts;
                    sum.whole += lasts;
                    next
                }
                Instr::Call(site) => {
                    sum.visits[site as usize] += 1.0;
                    sum.whole += self.call(site);
                    next
                }
                Instr::Parallel { first, count } => {
                    let (mut own, mut whole) = (0.0_f64, 0.0_f64);
                    for &branch in code.branches_of(first, count) {
                        let branch = self.program(branch);
                        sum.add(&branch, 1.0, false);
                        own = own.max(branch.own);
                        whole = whole.max(branch.whole);
                    }
                    sum.own += own;
                    sum.whole += whole;
                    next
                }
                Instr::Repeat { times, body } => {
                    let body = self.program(body);
                    sum.add(&body, f64::from(times), true);
                    next
                }
                Instr::Choose { first, count } => {
                    // Each arm jumps to what follows, so an arm's program is all the rest.
                    let (before, mut below) = (sum.whole, 0.0);
                    let mut answer = 0.0;
                    for &(upto, arm) in code.arms_of(first, count) {
                        let arm = self.program(arm);
                        sum.add(&arm, upto - below, true);
                        answer += (upto - below) * arm.answer.unwrap_or(arm.whole);
                        below = upto;
                    }
                    sum.answer.get_or_insert(before + answer);
                    break;
                }
                Instr::Jump(to) | Instr::Otherwise(to) => to,
                Instr::Respond(_) => {
                    sum.answer.get_or_insert(sum.whole);
                    next
                }
                Instr::Lookup(cache) => {
                    let Lookup { hit, miss, misses } = code.lookups[cache as usize];
                    let missed = self.program(miss);
                    sum.add(&missed, misses, true);
                    if let Some(hit) = hit {
                        let found = self.program(hit);
                        sum.add(&found, 1.0 - misses, true);
                    }
                    next
                }
                Instr::Effect(_) | Instr::Claim(_) | Instr::Stored(_) => next,
                Instr::End => break,
            }
        }
        self.known[entry.0 as usize] = Some(sum.clone());
        sum
    }

    /// From sending to the answer, one attempt.
    fn call(&mut self, site: u32) -> f64 {
        let call = self.scenario.sites[site as usize];
        let service = self.scenario.edges[call.edge as usize].service;
        let service = &self.scenario.services[service as usize];
        let there = self.program(service.operations[call.operation as usize].entry);
        // A message queue answers before anything is done.
        let there = match service.messages() {
            Some(_) => 0.0,
            None => there.answer.unwrap_or(there.whole),
        };
        let link = &self.scenario.links[call.link as usize];
        let mean = |law: &Law| law.mean().unwrap_or(f64::INFINITY);
        let phases: f64 = link.phases_of_each_attempt().map(mean).sum();
        2.0 * mean(&link.delay) + phases + there
    }
}

impl Program {
    /// Adds what another does, `times` as often; its time only where it comes after this one.
    fn add(&mut self, other: &Program, times: f64, after: bool) {
        self.work += times * other.work;
        if after {
            self.own += times * other.own;
            self.whole += times * other.whole;
        }
        let visits = self.visits.iter_mut().zip(&other.visits);
        visits.for_each(|(sum, visits)| *sum += times * visits);
    }
}

/// How often things happen, per second.
#[derive(Debug)]
pub(super) struct Rates {
    /// Calls begun, by call site.
    pub(super) sites: Vec<f64>,
    /// Attempts that reach each operation of each service.
    pub(super) operations: Vec<Vec<f64>>,
}

impl Rates {
    /// When every call from call site *s* makes `attempts(s)` attempts. A client with arrivals runs its program as
    /// often as they come on average after the warm-up; one that loops (with `loops`) as often as it can when
    /// nothing is wrong.
    pub(super) fn of(
        scenario: &Scenario,
        programs: &Programs,
        loops: bool,
        attempts: &dyn Fn(u32) -> f64,
    ) -> Rates {
        let mut own = vec![0.0; scenario.sites.len()];
        for client in &scenario.clients {
            for operation in &client.operations {
                let program = programs.at(operation.entry);
                let all = match &client.source {
                    Source::Open(arrivals) => {
                        let (from, to) = (scenario.run.warmup, scenario.run.duration);
                        let expected = arrivals.expected(Time(from.0), Time(to.0));
                        expected / to.minus(from).as_secs_f64()
                    }
                    Source::Loop { .. } if loops && program.whole > 0.0 => {
                        f64::from(client.instances) / program.whole
                    }
                    Source::Loop { .. } => 0.0,
                };
                visit(&mut own, program, all * operation.weight);
            }
        }
        let mut rates = Rates {
            sites: own.clone(),
            operations: scenario
                .services
                .iter()
                .map(|service| vec![0.0; service.operations.len()])
                .collect(),
        };
        // Calls go in no circle, so each round settles one more layer.
        for _ in 0..=rates.operations.concat().len() {
            let before = rates.sites.clone();
            rates.operations.iter_mut().for_each(|all| all.fill(0.0));
            for (index, (site, rate)) in scenario.sites.iter().zip(&before).enumerate() {
                if *rate > 0.0 {
                    let service = scenario.edges[site.edge as usize].service as usize;
                    let sent = rate * attempts(index as u32);
                    rates.operations[service][site.operation as usize] += sent;
                }
            }
            rates.sites.clone_from(&own);
            for (service, all) in scenario.services.iter().zip(&rates.operations) {
                for (operation, rate) in service.operations.iter().zip(all) {
                    visit(&mut rates.sites, programs.at(operation.entry), *rate);
                }
            }
            if rates.sites == before {
                break;
            }
        }
        rates
    }

    /// Calls begun along an edge.
    pub(super) fn of_edge(&self, scenario: &Scenario, edge: usize) -> f64 {
        let along = scenario.sites.iter().zip(&self.sites);
        along
            .filter(|(site, _)| site.edge as usize == edge)
            .map(|(_, rate)| rate)
            .sum()
    }
}

/// A program is run `rate` times a second.
fn visit(sites: &mut [f64], program: &Program, rate: f64) {
    for (sum, visits) in sites.iter_mut().zip(&program.visits) {
        if *visits > 0.0 && rate > 0.0 {
            *sum += rate * visits;
        }
    }
}
