//! The layers that a policy has, in the order in effect, and what is wrong with an order for it.

use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

use crate::failure::FailureSet;
use crate::order::{Layer, Order};
use crate::spec::{Counts, Spec};

impl Spec {
    /// The order in effect: as written, or else as [`crate::Breaker::counts`] and
    /// [`crate::Bulkhead::hold_during_backoff`] have it. Parts that the policy has not are left out.
    #[must_use]
    pub fn effective_order(&self) -> Order {
        let mut layers = self.all_layers();
        layers.retain(|&layer| self.has(layer));
        Order::of(&layers)
    }

    /// Attempts a call may have, the first included: retried or hedged.
    #[must_use]
    pub fn max_attempts(&self) -> u32 {
        self.hedge
            .map_or(self.retry.max_attempts, |hedge| hedge.max_attempts)
    }

    /// Failures after which another attempt may be made: retried, or not fatal to a hedged call.
    #[inline]
    #[must_use]
    pub fn tried_again(&self) -> FailureSet {
        match self.hedge {
            None => self.retry.on,
            Some(hedge) => hedge.on,
        }
    }

    /// What the breaker counts, by its place in the order in effect; `None` without a breaker.
    #[must_use]
    pub fn breaker_counts(&self) -> Option<Counts> {
        self.breaker.as_ref()?;
        Some(match self.outside_retry(Layer::Breaker) {
            true => Counts::Calls,
            false => Counts::Attempts,
        })
    }

    /// Whether a call keeps its bulkhead permit during backoff, by the place of the bulkhead in the order in effect;
    /// `None` without a bulkhead.
    #[must_use]
    pub fn holds_during_backoff(&self) -> Option<bool> {
        self.bulkhead.as_ref()?;
        Some(self.outside_retry(Layer::Bulkhead))
    }

    /// Whether it has something in this place.
    pub(crate) fn has(&self, layer: Layer) -> bool {
        match layer {
            Layer::TotalTimeout => self.deadline.limit.or(self.deadline.default).is_some(),
            Layer::Retry => self.max_attempts() > 1,
            Layer::RateLimit => self.rate_limit.is_some(),
            Layer::Breaker => self.breaker.is_some(),
            Layer::Bulkhead => self.bulkhead.is_some(),
            Layer::AttemptTimeout => self.attempt_timeout.is_some(),
        }
    }

    pub(crate) fn all_layers(&self) -> Vec<Layer> {
        if let Some(order) = &self.order {
            return order.complete();
        }
        let calls = (self.breaker.as_ref()).is_some_and(|b| b.counts == Some(Counts::Calls));
        let holds = (self.bulkhead.as_ref()).is_some_and(|b| b.hold_during_backoff == Some(true));
        let mut layers = alloc::vec![Layer::TotalTimeout];
        let place = |layers: &mut Vec<Layer>, outside: bool| {
            if calls == outside {
                layers.push(Layer::Breaker);
            }
            if holds == outside {
                layers.push(Layer::Bulkhead);
            }
        };
        place(&mut layers, true);
        layers.extend([Layer::Retry, Layer::RateLimit]);
        place(&mut layers, false);
        layers.push(Layer::AttemptTimeout);
        layers
    }

    /// Whether a layer is outside retry.
    pub(crate) fn outside_retry(&self, layer: Layer) -> bool {
        let layers = self.all_layers();
        let at = |layer| layers.iter().position(|&other| other == layer);
        at(layer) < at(Layer::Retry)
    }

    /// What is wrong with the order: the field and why.
    pub(crate) fn contradictions(&self) -> Vec<(&'static str, String)> {
        let mut wrong = Vec::new();
        let Some(order) = &self.order else {
            return wrong;
        };
        let named = order.layers();
        let mut order_is = |message: String| wrong.push(("order", message));
        let mut well_formed = true;
        for layer in Layer::ALL {
            let name = layer.name();
            match named.iter().filter(|&&other| other == layer).count() {
                0 if self.has(layer) => {
                    order_is(format!(
                        "must name every part that the policy has; {name} is missing"
                    ));
                }
                0 | 1 => {}
                _ => {
                    order_is(format!(
                        "must name each layer once; {name} is there more than once"
                    ));
                    well_formed = false;
                }
            }
        }
        if !well_formed {
            return wrong;
        }
        let layers = order.complete();
        let at = |layer| layers.iter().position(|&other| other == layer);
        if at(Layer::AttemptTimeout) < at(Layer::Retry) {
            let message = "has attempt_timeout outside retry, where it would bound all attempts together: that is \
                total_timeout, the limit of the deadline";
            order_is(message.to_string());
        }
        if at(Layer::TotalTimeout) > at(Layer::Retry) {
            let message = "has total_timeout inside retry, where it would bound each attempt: that is attempt_timeout";
            order_is(message.to_string());
        }
        if let Some(counts) = self.breaker.as_ref().and_then(|breaker| breaker.counts) {
            let outside = at(Layer::Breaker) < at(Layer::Retry);
            let message = match (counts, outside) {
                (Counts::Calls, false) => {
                    "calls: but order has the breaker inside retry, where it counts attempts"
                }
                (Counts::Attempts, true) => {
                    "attempts: but order has the breaker outside retry, where it counts calls"
                }
                _ => "",
            };
            if !message.is_empty() {
                wrong.push((
                    "breaker.counts",
                    format!("{message}; leave one of the two out"),
                ));
            }
        }
        if let Some(holds) = self
            .bulkhead
            .as_ref()
            .and_then(|bulkhead| bulkhead.hold_during_backoff)
        {
            let outside = at(Layer::Bulkhead) < at(Layer::Retry);
            if holds != outside {
                let (where_, does) = match outside {
                    true => ("outside", "is held"),
                    false => ("inside", "is not held"),
                };
                let message = format!(
                    "{holds}: but order has the bulkhead {where_} retry, where a permit {does} during backoff; \
                     leave one of the two out"
                );
                wrong.push(("bulkhead.hold_during_backoff", message));
            }
        }
        wrong
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use crate::{Preset, RateLimit, rate_limit};

    /// Everything that can have a place in the order.
    pub(crate) fn full() -> Spec {
        let mut spec = Preset::DotnetStandard.spec();
        spec.rate_limit = Some(RateLimit::Resilience4j(
            rate_limit::Resilience4jRate::default(),
        ));
        spec.order = None;
        spec
    }

    #[test]
    fn what_the_parts_say_of_the_order_is_the_order() {
        let mut spec = full();
        let breaker = spec.breaker.as_mut().expect("it has one");
        breaker.counts = Some(Counts::Calls);
        let bulkhead = spec.bulkhead.as_mut().expect("it has one");
        bulkhead.hold_during_backoff = Some(true);
        let names: Vec<&str> = spec
            .effective_order()
            .layers()
            .iter()
            .map(|l| l.name())
            .collect();
        let expected = [
            "total_timeout",
            "breaker",
            "bulkhead",
            "retry",
            "rate_limit",
            "attempt_timeout",
        ];
        assert_eq!(names, expected);
    }

    #[test]
    fn contradictions_are_refused_where_they_are_written() {
        use Layer as L;
        let fields = |order: &[L], change: fn(&mut Spec)| {
            let mut spec = Spec {
                order: Some(Order::of(order)),
                ..full()
            };
            change(&mut spec);
            let errors = spec.check().err().unwrap_or_default();
            errors
                .iter()
                .map(|e| (e.field, e.message.clone()))
                .collect::<Vec<_>>()
        };
        let says = |found: &[(&str, String)], field: &str, part: &str| {
            assert!(
                found.iter().any(|(f, m)| *f == field && m.contains(part)),
                "{found:?}"
            );
        };
        let late = [
            L::TotalTimeout,
            L::AttemptTimeout,
            L::Retry,
            L::Breaker,
            L::Bulkhead,
            L::RateLimit,
        ];
        says(
            &fields(&late, |_| {}),
            "order",
            "attempt_timeout outside retry",
        );
        let inner = [
            L::Retry,
            L::TotalTimeout,
            L::Breaker,
            L::Bulkhead,
            L::RateLimit,
            L::AttemptTimeout,
        ];
        says(
            &fields(&inner, |_| {}),
            "order",
            "total_timeout inside retry",
        );
        says(
            &fields(&[L::Retry, L::Retry], |_| {}),
            "order",
            "more than once",
        );
        says(
            &fields(&[L::Retry, L::Breaker], |_| {}),
            "order",
            "bulkhead is missing",
        );
        let calls = |spec: &mut Spec| {
            if let Some(breaker) = &mut spec.breaker {
                breaker.counts = Some(Counts::Calls);
            }
        };
        let found = fields(Order::envoy().layers(), calls);
        says(&found, "breaker.counts", "inside retry");
        let holds = |spec: &mut Spec| {
            if let Some(bulkhead) = &mut spec.bulkhead {
                bulkhead.hold_during_backoff = Some(true);
            }
        };
        says(
            &fields(Order::envoy().layers(), holds),
            "bulkhead.hold_during_backoff",
            "inside retry",
        );
        assert!(fields(Order::dotnet_standard().layers(), holds).is_empty());
    }
}
