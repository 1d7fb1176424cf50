//! Rate limits in front of a service.

use std::collections::BTreeMap;
use std::collections::btree_map::OccupiedEntry;

use seawall::rate_limit::{GcraState, RateReservation, Resilience4jRateState};
use seawall::{Failure, Span, Time};

use super::BehaviourState;
use crate::scenario::model::{RateRule, ServerLimit, TellWait};
use crate::world::World;
use crate::world::job::Job;

/// A rate limit while it runs.
#[derive(Clone, Debug)]
pub(super) struct Gate {
    rule: RateRule,
    /// By client, or one for all.
    meters: BTreeMap<u32, Meter>,
}

#[derive(Clone, Debug)]
enum Meter {
    Gcra(GcraState),
    PerPeriod(Resilience4jRateState),
}

impl Gate {
    pub(super) fn new(rule: RateRule) -> Gate {
        Gate {
            rule,
            meters: BTreeMap::new(),
        }
    }

    /// How long the job would have to wait; `None`: it may come in.
    fn wait(&mut self, now: Time, job: &Job) -> Option<Span> {
        let key = if self.rule.per_client { job.client } else { 0 };
        let limit = &self.rule.limit;
        let meter = self.meters.entry(key).or_insert_with(|| match limit {
            ServerLimit::Gcra(gcra) => Meter::Gcra(GcraState::new(gcra)),
            ServerLimit::PerPeriod(limit) => {
                Meter::PerPeriod(Resilience4jRateState::new(limit, Time::ZERO))
            }
        });
        match meter {
            // One cell is never too many.
            Meter::Gcra(gcra) => gcra.check(now, 1).unwrap_or(None),
            Meter::PerPeriod(state) => match (state.reserve(now, 1), limit) {
                (RateReservation::Refused { .. }, ServerLimit::PerPeriod(limit)) => {
                    let period = limit.limit_refresh_period.0.max(1);
                    Some(Span(period - now.0 % period))
                }
                _ => None,
            },
        }
    }
}

impl World {
    /// The throttles that are active in front of a service, each with the fault that it is; the last takes the place of the
    /// others and of the service's own limit. What was used up of each stays so.
    pub(in crate::world) fn set_throttles(&mut self, service: u32, active: &[(u32, RateRule)]) {
        if let Some(behaviour) = &mut self.services[service as usize].behaviour {
            let gates = &mut behaviour.throttles;
            gates.retain(|fault, _| active.iter().any(|(at, _)| at == fault));
            for (fault, rule) in active {
                gates.entry(*fault).or_insert_with(|| Gate::new(*rule));
            }
        }
    }
}

impl BehaviourState {
    /// What a job gets that comes too soon.
    pub(super) fn over_the_limit(&mut self, now: Time, job: &Job) -> Option<Failure> {
        let last = self.throttles.last_entry().map(OccupiedEntry::into_mut);
        let gate = last.or(self.gate.as_mut())?;
        let wait = gate.wait(now, job)?;
        let told = match gate.rule.retry_after {
            TellWait::Not => gate.rule.failure.retry_after,
            TellWait::Exactly => Some(wait),
            TellWait::InSeconds => Some(Span::secs(wait.0.div_ceil(1_000_000_000))),
        };
        Some(Failure {
            retry_after: told,
            ..gate.rule.failure
        })
    }
}
