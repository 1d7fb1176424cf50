//! `preset: …`: what a library does by default, under whatever a policy says itself.

use seawall::{Preset, Spec};

use crate::scenario::problem::Problems;
use crate::scenario::tree::{At, Node, Position, Value};
use crate::scenario::written::{Layered, Written, words};

words! {
    /// A library whose documented defaults hold where the policy does not say otherwise.
    Preset, "Preset" {
        "grpc" => Preset::Grpc, "gRPC: the retry policy and retry throttling of proposal A6's example.";
        "envoy" => Preset::Envoy, "Envoy: a route with retry_on set and everything else left alone.";
        "istio" => Preset::Istio, "Istio: what holds when nothing is configured.";
        "aws-standard" => Preset::AwsStandard, "The AWS SDKs in standard mode, version 2.1.";
        "resilience4j" => Preset::Resilience4j, "resilience4j: retry, breaker, time limiter and bulkhead by their ofDefaults.";
        "polly" => Preset::Polly, "Polly v8: retry, breaker and timeout strategies with new options.";
        "dotnet-standard" => Preset::DotnetStandard, ".NET: AddStandardResilienceHandler.";
        "finagle" => Preset::Finagle, "Finagle: requeues within the default retry budget.";
        "linkerd" => Preset::Linkerd, "Linkerd: a retryable route with the documentation's retry budget.";
        "hystrix" => Preset::Hystrix, "Hystrix: a command with its default properties.";
        "none" => Preset::None, "Nothing: one attempt, no timeout.";
    }
}

/// Lays the policy over the preset it names, each of whose nodes stands where its name does.
pub(super) fn lay_preset(policy: &mut Node) {
    let Some(named) = policy.get("preset") else {
        return;
    };
    let at = named.at;
    // A name that is none is reported when the policy is read.
    let Some(preset) = Preset::decode(named, &mut Problems::default()) else {
        return;
    };
    let usual = Spec::default().write();
    if let Some(value) = beyond(preset.spec().write(), &usual) {
        let mut base = Node { value, at };
        leave_what_follows(policy, &mut base);
        base.stand(at);
        Spec::lay(policy, &base);
    }
}

/// Where a member of a family has a default that follows from another of its keys: that key, and what follows.
const FOLLOWS: [(&[&str], &str, &str); 2] = [
    (&["retry", "backoff", "envoy"], "base", "max"),
    (&["retry", "backoff", "aws_sdk"], "mode", "retry_after"),
];

/// Takes out of the preset what would follow from it, where the policy says for itself what it follows from.
fn leave_what_follows(policy: &Node, base: &mut Node) {
    for (path, decides, follows) in FOLLOWS {
        let own = path.iter().try_fold(policy, |node, key| node.get(key));
        // A bare word or number is the key that decides.
        let says = own.is_some_and(|own| own.scalar().is_some() || own.get(decides).is_some());
        let of_preset = path
            .iter()
            .try_fold(&mut *base, |node, key| node.get_mut(key));
        if let Some(Value::Map(entries)) = of_preset.filter(|_| says).map(|node| &mut node.value) {
            entries.retain(|(key, _)| key.value != follows);
        }
    }
}

/// What `value` says that is not `usual` anyway.
fn beyond(value: Value, usual: &Value) -> Option<Value> {
    match (value, usual) {
        (value, usual) if value == *usual => None,
        (Value::Map(entries), Value::Map(usual)) => {
            let differs = |(key, node): (At<String>, Node)| {
                let usual = usual.iter().find(|(name, _)| name.value == key.value);
                let value = match usual {
                    Some((_, usual)) => beyond(node.value, &usual.value)?,
                    None => node.value,
                };
                let at = Position::default();
                Some((key, Node { value, at }))
            };
            Some(Value::Map(
                entries.into_iter().filter_map(differs).collect(),
            ))
        }
        (value, _) => Some(value),
    }
}
