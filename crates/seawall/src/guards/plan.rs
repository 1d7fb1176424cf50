//! An order as what is left of it for one policy: the steps of a call on its way to an attempt.

use crate::order::{Layer, Refusal, RefusalSet};
use crate::spec::{Counts, Spec};

/// Something a call passes on its way to the next attempt.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Step {
    /// The total timeout begins to count.
    Deadline,
    /// The driver says to which host the attempt goes.
    Host,
    /// The rate limit.
    Rate,
    /// The breaker, once per call.
    BreakerOfCall,
    /// The breaker, a first time for this attempt; for good it is asked when the attempt is sent.
    BreakerAhead,
    /// The bulkhead.
    Bulkhead,
    /// The attempt timeout begins to count.
    Timing,
}

/// An order as the steps that are left of it for one policy.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Plan {
    steps: [Step; 6],
    len: u8,
    /// The first step of a try.
    pub(crate) retry_at: u8,
    pub(crate) breaker_counts: Counts,
    pub(crate) permit_per_call: bool,
    /// Whether the attempt timeout runs while the try waits for the layers inside it.
    pub(crate) times_waits: bool,
    /// Whether the breaker does not see the attempt timeout, being inside it.
    pub(crate) hides_timeouts: bool,
    /// Whether the limit of the deadline counts from a step of its own.
    pub(crate) late_deadline: bool,
    /// Refusals of layers that are inside the breaker.
    pub(crate) inside_breaker: RefusalSet,
}

impl Plan {
    pub(crate) fn of(spec: &Spec) -> Plan {
        let layers = spec.all_layers();
        let at = |layer| layers.iter().position(|&other| other == layer);
        let inside = |one, other| at(one) > at(other);
        let waits =
            |layer: &Layer| matches!(layer, Layer::RateLimit | Layer::Bulkhead) && spec.has(*layer);
        let breaker_of_call = inside(Layer::Retry, Layer::Breaker);
        let mut plan = Plan {
            steps: [Step::Deadline; 6],
            len: 0,
            retry_at: 0,
            breaker_counts: if breaker_of_call {
                Counts::Calls
            } else {
                Counts::Attempts
            },
            permit_per_call: inside(Layer::Retry, Layer::Bulkhead),
            times_waits: false,
            hides_timeouts: inside(Layer::Breaker, Layer::AttemptTimeout),
            late_deadline: false,
            inside_breaker: RefusalSet::NONE,
        };
        for (refusal, layer) in [
            (Refusal::BulkheadFull, Layer::Bulkhead),
            (Refusal::RateLimited, Layer::RateLimit),
        ] {
            if inside(layer, Layer::Breaker) {
                plan.inside_breaker = plan.inside_breaker.with(refusal);
            }
        }
        for (index, &layer) in layers.iter().enumerate() {
            let (outer, inner) = layers.split_at(index);
            match layer {
                Layer::TotalTimeout if outer.iter().any(waits) => {
                    plan.late_deadline = true;
                    plan.push(Step::Deadline);
                }
                Layer::Retry => {
                    plan.retry_at = plan.len;
                    if spec.scope.asks_for_host() {
                        plan.push(Step::Host);
                    }
                }
                Layer::RateLimit if spec.has(layer) => plan.push(Step::Rate),
                Layer::Breaker if spec.has(layer) && breaker_of_call => {
                    plan.push(Step::BreakerOfCall)
                }
                Layer::Breaker if spec.has(layer) => plan.push(Step::BreakerAhead),
                Layer::Bulkhead if spec.has(layer) => plan.push(Step::Bulkhead),
                Layer::AttemptTimeout if spec.has(layer) && inner.iter().any(waits) => {
                    plan.times_waits = true;
                    plan.push(Step::Timing);
                }
                _ => {}
            }
        }
        plan
    }

    fn push(&mut self, step: Step) {
        if let Some(next) = self.steps.get_mut(usize::from(self.len)) {
            *next = step;
            self.len += 1;
        }
    }

    /// What a call that has come so far passes next; `None`: it may send.
    #[inline]
    pub(crate) fn step(&self, stage: u8) -> Option<Step> {
        if stage < self.len {
            self.steps.get(usize::from(stage)).copied()
        } else {
            None
        }
    }

    /// Whether a call that has come so far is inside retry.
    #[inline]
    pub(crate) fn is_inside_retry(&self, stage: u8) -> bool {
        stage >= self.retry_at
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::layers::tests::full;
    use crate::order::Order;
    use alloc::vec::Vec;

    fn steps(spec: &Spec) -> (Vec<Step>, u8) {
        let plan = Plan::of(spec);
        (plan.steps[..usize::from(plan.len)].to_vec(), plan.retry_at)
    }

    #[test]
    fn each_peers_order_passes_its_parts_in_its_own_sequence() {
        use Step as S;
        let with = |order: Option<Order>| {
            let spec = Spec { order, ..full() };
            assert_eq!(spec.check().err(), None);
            steps(&spec)
        };
        let (usual, at) = with(None);
        assert_eq!(
            (usual, at),
            (alloc::vec![S::Rate, S::BreakerAhead, S::Bulkhead], 0)
        );
        let (r4j, at) = with(Some(Order::resilience4j()));
        assert_eq!(
            (r4j, at),
            (
                alloc::vec![S::BreakerAhead, S::Rate, S::Timing, S::Bulkhead],
                0
            )
        );
        let (dotnet, at) = with(Some(Order::dotnet_standard()));
        assert_eq!(
            (dotnet, at),
            (
                alloc::vec![S::Rate, S::Bulkhead, S::Deadline, S::BreakerAhead],
                3
            )
        );
        let (envoy, at) = with(Some(Order::envoy()));
        assert_eq!(
            (envoy, at),
            (
                alloc::vec![S::Rate, S::Deadline, S::BreakerAhead, S::Bulkhead],
                2
            )
        );
        let (finagle, at) = with(Some(Order::finagle()));
        assert_eq!(
            (finagle, at),
            (
                alloc::vec![S::Rate, S::BreakerAhead, S::Timing, S::Bulkhead],
                1
            )
        );
    }
}
