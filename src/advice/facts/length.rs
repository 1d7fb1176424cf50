//! How long an undisturbed attempt takes, as a distribution.

use seawall::{Entropy as _, Span};
use sim::law::Law;
use sim::rng::{Purpose, Stream};
use sim::scenario::model::Scenario;
use sim::step::{Instr, Lookup, Pc};

/// Draws where there is no formula. The share beyond the true p99 is then 1 % ± 0.2 % (two standard deviations
/// of a binomial count).
const DRAWS: usize = 10_000;
/// Steps that may be gone through for all draws together.
const STEPS_MAX: u64 = 4_000_000;

/// A distribution of lengths of time.
#[derive(Clone, Debug, PartialEq)]
pub enum Length {
    /// A constant and at most one random part: by the law's own formula.
    Formula {
        /// What is always needed.
        fixed: Span,
        /// The random part.
        law: Option<Law>,
    },
    /// Several random parts: drawn, always the same draws, in ascending order.
    Drawn(Vec<Span>),
}

impl Length {
    /// One attempt from a call site: the way there, the program with all it calls (one attempt each), the way
    /// back. `None`: too long a program to draw from.
    #[must_use]
    pub fn of_site(scenario: &Scenario, site: u32) -> Option<Length> {
        Length::of(
            scenario,
            |formula| formula.site(scenario, site),
            |draws| draws.site(site),
        )
    }

    /// One run of a program with all it calls (one attempt each), until it answers or ends. `None`: too long to draw from.
    #[must_use]
    pub fn of_program(scenario: &Scenario, entry: Pc) -> Option<Length> {
        Length::of(
            scenario,
            |formula| formula.program(scenario, entry),
            |draws| draws.program(entry).map(|(length, _)| length),
        )
    }

    fn of(
        scenario: &Scenario,
        formally: impl FnOnce(&mut Formula) -> Option<()>,
        draw: impl Fn(&mut Draws<'_>) -> Option<Span>,
    ) -> Option<Length> {
        let mut formula = Formula::default();
        if formally(&mut formula).is_some() {
            let Formula { fixed, law, .. } = formula;
            return Some(Length::Formula { fixed, law });
        }
        let mut draws = Draws {
            scenario,
            stream: Stream::new(0, Purpose::Work, "advice"),
            steps: 0,
        };
        let mut drawn = Vec::with_capacity(DRAWS);
        while drawn.len() < DRAWS {
            drawn.push(draw(&mut draws)?);
        }
        drawn.sort_unstable();
        Some(Length::Drawn(drawn))
    }

    /// The length that a share `q` does not exceed.
    #[must_use]
    pub fn quantile(&self, q: f64) -> Span {
        match self {
            Length::Formula { fixed, law } => {
                fixed.plus(law.as_ref().map_or(Span::ZERO, |law| law.quantile(q)))
            }
            Length::Drawn(drawn) => {
                let rank = (q * drawn.len() as f64).ceil() as usize;
                drawn[rank.clamp(1, drawn.len()) - 1]
            }
        }
    }

    /// The share that is longer than `limit`.
    #[must_use]
    pub fn beyond(&self, limit: Span) -> f64 {
        match self {
            Length::Formula { fixed, .. } if *fixed > limit => 1.0,
            Length::Formula { fixed, law } => law
                .as_ref()
                .map_or(0.0, |law| 1.0 - law.cdf(limit.minus(*fixed))),
            Length::Drawn(drawn) => {
                let within = drawn.partition_point(|length| *length <= limit);
                1.0 - within as f64 / drawn.len() as f64
            }
        }
    }

    /// How the figures were come by.
    #[must_use]
    pub const fn method(&self) -> &'static str {
        match self {
            Length::Formula { .. } => "by its law",
            Length::Drawn(_) => "estimated from 10 000 draws",
        }
    }
}

/// A sum of constants and one law; `None` when there is more to it.
#[derive(Debug, Default)]
struct Formula {
    fixed: Span,
    law: Option<Law>,
    steps: u64,
}

impl Formula {
    fn site(&mut self, scenario: &Scenario, site: u32) -> Option<()> {
        let call = scenario.sites[site as usize];
        let service = scenario.edges[call.edge as usize].service as usize;
        let way = &scenario.links[call.link as usize];
        let link = &way.delay;
        way.phases_of_each_attempt()
            .try_for_each(|phase| self.part(phase))?;
        self.part(link)?;
        let service = &scenario.services[service];
        // A message queue answers before anything is done.
        if service.messages().is_none() {
            self.program(scenario, service.operations[call.operation as usize].entry)?;
        }
        self.part(link)
    }

    fn part(&mut self, law: &Law) -> Option<()> {
        match law {
            Law::Constant(span) => self.fixed = self.fixed.plus(*span),
            _ if self.law.is_some() => return None,
            law => self.law = Some(law.clone()),
        }
        Some(())
    }

    fn program(&mut self, scenario: &Scenario, entry: Pc) -> Option<()> {
        let code = &scenario.code;
        let mut pc = entry;
        loop {
            self.steps += 1;
            if self.steps > STEPS_MAX {
                return None;
            }
            let next = Pc(pc.0 + 1);
            pc = match code.instrs[pc.0 as usize] {
                Instr::Work(law) | Instr::Delay(law) => {
                    self.part(&code.laws[law as usize])?;
                    next
                }
                Instr::Call(site) => {
                    self.site(scenario, site)?;
                    next
                }
                Instr::Parallel { .. }
                | Instr::Choose { .. }
                | Instr::Repeat { .. }
                | Instr::Lookup(_) => {
                    return None;
                }
                Instr::Effect(_) | Instr::Claim(_) | Instr::Stored(_) | Instr::Hold(_) => next,
                Instr::Jump(to) | Instr::Otherwise(to) => to,
                Instr::Respond(_) | Instr::End => return Some(()),
            };
        }
    }
}

/// Runs programs in thought, one random length after the other.
struct Draws<'a> {
    scenario: &'a Scenario,
    stream: Stream,
    steps: u64,
}

impl Draws<'_> {
    fn site(&mut self, site: u32) -> Option<Span> {
        let call = self.scenario.sites[site as usize];
        let service = self.scenario.edges[call.edge as usize].service as usize;
        let way = &self.scenario.links[call.link as usize];
        let link = &way.delay;
        let phases = way.phases_of_each_attempt();
        let phases = phases.fold(Span::ZERO, |sum, phase| {
            sum.plus(phase.sample(&mut self.stream))
        });
        let there = phases.plus(link.sample(&mut self.stream));
        let service = &self.scenario.services[service];
        let work = match service.messages() {
            Some(_) => Span::ZERO,
            None => {
                self.program(service.operations[call.operation as usize].entry)?
                    .0
            }
        };
        Some(there.plus(work).plus(link.sample(&mut self.stream)))
    }

    /// How long until it answers or ends, and whether it has answered. `None`: it takes too many steps to say.
    fn program(&mut self, entry: Pc) -> Option<(Span, bool)> {
        let code = &self.scenario.code;
        let (mut sum, mut pc) = (Span::ZERO, entry);
        loop {
            self.steps += 1;
            if self.steps > STEPS_MAX {
                return None;
            }
            let next = Pc(pc.0 + 1);
            pc = match code.instrs[pc.0 as usize] {
                Instr::Work(law) | Instr::Delay(law) => {
                    sum = sum.plus(code.laws[law as usize].sample(&mut self.stream));
                    next
                }
                Instr::Call(site) => {
                    sum = sum.plus(self.site(site)?);
                    next
                }
                Instr::Parallel { first, count } => {
                    let mut longest = Span::ZERO;
                    for &branch in code.branches_of(first, count) {
                        longest = longest.max(self.program(branch)?.0);
                    }
                    sum = sum.plus(longest);
                    next
                }
                Instr::Repeat { times, body } => {
                    for _ in 0..times {
                        let (length, answered) = self.program(body)?;
                        sum = sum.plus(length);
                        if answered {
                            return Some((sum, true));
                        }
                    }
                    next
                }
                Instr::Choose { first, count } => {
                    let unit = self.stream.unit();
                    let arms = code.arms_of(first, count);
                    let drawn = arms.iter().find(|(upto, _)| unit < *upto);
                    drawn.or(arms.last()).map_or(next, |(_, arm)| *arm)
                }
                Instr::Lookup(cache) => {
                    let Lookup { hit, miss, misses } = code.lookups[cache as usize];
                    let missed = self.stream.unit() < misses;
                    let block = if missed { Some(miss) } else { hit };
                    if let Some(block) = block {
                        let (length, answered) = self.program(block)?;
                        sum = sum.plus(length);
                        if answered {
                            return Some((sum, true));
                        }
                    }
                    next
                }
                Instr::Effect(_) | Instr::Claim(_) | Instr::Stored(_) | Instr::Hold(_) => next,
                Instr::Jump(to) | Instr::Otherwise(to) => to,
                Instr::Respond(_) => return Some((sum, true)),
                Instr::End => return Some((sum, false)),
            };
        }
    }
}
