//! Cases that need no world: the generators, and the waits of a backoff.

use seawall::{
    Backoff, CallKey, Client, Entropy, FailureKind, FailureSet, Jitter, Operation, Reply, Request,
    Retry, Span, Spec, Time,
};
use sim::rng::{Purpose, SplitMix64, Stream};

use crate::stats::series;
use crate::validate::case::Case;
use crate::validate::plan::{Experiment, Values};

/// Known answers of the generators: 1 when all outputs are equal.
pub(super) fn rng(case: &Case) -> Vec<Experiment> {
    let known = |name: &str| -> Vec<u64> {
        let list = case.metrics[name].expected.as_array().into_iter().flatten();
        list.filter_map(|word| word.as_str()?.parse().ok())
            .collect()
    };
    let word = |pointer: &str| {
        let text = case.get(pointer).as_str().unwrap_or_default();
        u128::from_str_radix(text.trim_start_matches("0x"), 16).expect("a hexadecimal number")
    };
    let (split, pcg) = (known("splitmix64"), known("pcg64"));
    let seed = case.number("/splitmix64_seed") as u64;
    let (state, increment) = (word("/pcg64/state"), word("/pcg64/inc"));
    vec![Experiment::library(1, move |_| {
        let mut small = SplitMix64::new(seed);
        let mut stream = Stream::from_state(state, increment);
        vec![
            ("splitmix64".into(), same(&mut small, &split)),
            ("pcg64".into(), same(&mut stream, &pcg)),
        ]
    })]
}

fn same(generator: &mut impl Entropy, known: &[u64]) -> f64 {
    let all = !known.is_empty() && known.iter().all(|&word| generator.next_u64() == word);
    f64::from(u8::from(all))
}

/// Retries looked at.
const RETRIES: usize = 6;
const REPLICATIONS: u32 = 20;

/// Moments of the wait before each retry, as a call of the engine waits.
pub(super) fn backoff(case: &Case, scale: f64) -> Vec<Experiment> {
    let samples = case.run.samples.unwrap_or(1) as f64 * scale / f64::from(REPLICATIONS);
    let (base, cap) = (
        Span::from_secs_f64(case.number("/client/base")),
        Span::from_secs_f64(case.number("/client/cap")),
    );
    let kinds = [
        ("none", Jitter::None),
        ("full", Jitter::Full),
        ("equal", Jitter::Equal),
        ("decorrelated", Jitter::Decorrelated),
    ];
    let known: Vec<String> = case.metrics.keys().cloned().collect();
    vec![Experiment::library(REPLICATIONS, move |seed| {
        let mut values = Values::new();
        for (kind, jitter) in kinds {
            let mut stream = Stream::new(seed, Purpose::Jitter, kind);
            let mut client = client(base, cap, jitter);
            let mut waits = vec![Vec::new(); RETRIES];
            for _ in 0..samples as u64 {
                one_call(&mut client, &mut stream, &mut waits);
            }
            for (k, waits) in (1..).zip(&waits) {
                let at_cap = waits
                    .iter()
                    .filter(|&&wait| wait >= cap.as_secs_f64())
                    .count();
                for (what, value) in [
                    ("mean", series::mean(waits)),
                    ("var", series::variance(waits)),
                    ("pcap", at_cap as f64 / waits.len() as f64),
                ] {
                    values.push((format!("{kind}_{what}_{k}"), value));
                }
            }
        }
        values.retain(|(name, _)| known.contains(name));
        values
    })]
}

fn client(base: Span, max: Span, jitter: Jitter) -> Client {
    let spec = Spec {
        retry: Retry {
            max_attempts: RETRIES as u32 + 1,
            backoff: Backoff::Exponential {
                base,
                multiplier: 2.0,
                max,
                jitter,
            },
            on: FailureSet::of(&[FailureKind::Unavailable]),
            ..Retry::default()
        },
        ..Spec::default()
    };
    Client::new(spec.check().expect("a valid policy"), Time::ZERO)
}

/// A call whose every attempt fails at once; its waits go into `waits`, one list per retry.
fn one_call(client: &mut Client, stream: &mut Stream, waits: &mut [Vec<f64>]) {
    let mut now = Time::ZERO;
    let request = Request {
        key: CallKey(0),
        deadline: None,
        operation: Operation::default(),
    };
    let mut call = client.begin(now, request);
    while client.poll(&mut call, now, stream).is_some() {}
    for waits in waits {
        let attempt = call.attempts();
        client.on_reply(
            &mut call,
            now,
            attempt,
            Reply::Failed(FailureKind::Unavailable.into()),
        );
        while client.poll(&mut call, now, stream).is_some() {}
        let Some(at) = call.timer() else { return };
        waits.push(at.since(now).as_secs_f64());
        now = at;
        client.on_timer(&mut call, now);
        while client.poll(&mut call, now, stream).is_some() {}
    }
}
