//! Writes scenarios the way a user would, out of the numbers of a case.

use std::fmt;

use seawall::Span;
use serde_json::Value as Json;

/// A scenario in the making: one line per entry of each block.
#[derive(Clone, Debug, Default)]
pub(super) struct Text {
    /// What it is called.
    pub title: String,
    /// Seconds until arrivals stop.
    pub duration: f64,
    /// Seconds before measuring.
    pub warmup: f64,
    /// Length of a window in seconds; 0 for one window over everything.
    pub window: f64,
    /// Seconds for what is still open at the end.
    pub drain: f64,
    /// `name: { … }`, likewise below.
    pub clients: Vec<String>,
    /// What can be called.
    pub services: Vec<String>,
    /// Ways between them.
    pub links: Vec<String>,
    /// What callers do about slow and failed calls.
    pub policies: Vec<String>,
    /// `{ at: …, … }`.
    pub faults: Vec<String>,
}

impl fmt::Display for Text {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let window = if self.window > 0.0 {
            self.window
        } else {
            self.duration
        };
        let title = serde_json::to_string(&self.title).expect("text is JSON");
        writeln!(f, "version: 1")?;
        writeln!(f, "title: {title}")?;
        writeln!(
            f,
            "run: {{ duration: {}, warmup: {}, window: {}, drain: {} }}",
            span(self.duration),
            span(self.warmup),
            span(window),
            span(self.drain)
        )?;
        for (block, entries) in [
            ("clients", &self.clients),
            ("services", &self.services),
            ("links", &self.links),
            ("policies", &self.policies),
        ] {
            if !entries.is_empty() {
                writeln!(f, "{block}:")?;
            }
            for entry in entries {
                writeln!(f, "  {entry}")?;
            }
        }
        if !self.faults.is_empty() {
            writeln!(f, "faults:")?;
        }
        for fault in &self.faults {
            writeln!(f, "  - {fault}")?;
        }
        Ok(())
    }
}

/// A length of time in seconds.
#[must_use]
pub(super) fn span(seconds: f64) -> String {
    Span::from_secs_f64(seconds).to_string()
}

/// Things per second.
#[must_use]
pub(super) fn rate(per_second: f64) -> String {
    format!("{per_second}/s")
}

/// A law of lengths of time in seconds.
///
/// # Panics
/// When the case names a law that does not exist.
#[must_use]
pub(super) fn law(law: &Json) -> String {
    let number = |key: &str| {
        law[key]
            .as_f64()
            .unwrap_or_else(|| panic!("{law}: no {key}"))
    };
    let list = |key: &str| -> Vec<f64> {
        let numbers = law[key].as_array().into_iter().flatten();
        numbers.filter_map(Json::as_f64).collect()
    };
    let exponential = |rate: f64| format!("{{ exponential: {} }}", span(1.0 / rate));
    match law["type"].as_str() {
        Some("det") => span(number("value")),
        Some("exp") => exponential(number("rate")),
        Some("erlang") => {
            let (k, rate) = (number("k"), number("rate"));
            format!("{{ erlang: {{ shape: {k}, mean: {} }} }}", span(k / rate))
        }
        Some("hyperexp") => {
            let phase =
                |(p, rate): (&f64, &f64)| format!("{{ weight: {p}, law: {} }}", exponential(*rate));
            let phases: Vec<String> = list("p").iter().zip(&list("rates")).map(phase).collect();
            format!("{{ mixture: [ {} ] }}", phases.join(", "))
        }
        Some("lognormal") => {
            let (mu, sigma) = (number("mu"), number("sigma"));
            let (mean, cv) = (
                libm::exp(mu + sigma * sigma / 2.0),
                libm::expm1(sigma * sigma).sqrt(),
            );
            format!("{{ lognormal: {{ mean: {}, cv: {cv} }} }}", span(mean))
        }
        Some("pareto") => format!(
            "{{ pareto: {{ shape: {}, scale: {} }} }}",
            number("shape"),
            span(number("scale"))
        ),
        Some("weibull") => format!(
            "{{ weibull: {{ shape: {}, scale: {} }} }}",
            number("shape"),
            span(number("scale"))
        ),
        Some("uniform") => {
            format!(
                "{{ uniform: [{}, {}] }}",
                span(number("a")),
                span(number("b"))
            )
        }
        Some("discrete") => {
            let value =
                |(p, value): (&f64, &f64)| format!("{{ weight: {p}, value: {} }}", span(*value));
            let values: Vec<String> = list("p").iter().zip(&list("values")).map(value).collect();
            format!("{{ discrete: [ {} ] }}", values.join(", "))
        }
        _ => panic!("no law is called {law}"),
    }
}

/// Arrivals of a case.
///
/// # Panics
/// When the case names arrivals that do not exist.
#[must_use]
pub(super) fn arrivals(arrival: &Json) -> String {
    let number = |key: &str| arrival[key].as_f64();
    match arrival["type"].as_str() {
        Some("poisson") => format!("{{ poisson: {} }}", rate(number("rate").unwrap_or(0.0))),
        Some("deterministic") => format!("{{ paced: {} }}", rate(number("rate").unwrap_or(0.0))),
        Some("renewal") => format!("{{ renewal: {} }}", law(&arrival["interarrival"])),
        Some(kind @ ("piecewise_poisson" | "piecewise_deterministic")) => {
            let process = match kind {
                "piecewise_poisson" => "poisson",
                _ => "paced",
            };
            let mut points = Vec::new();
            let mut before: Option<f64> = None;
            for segment in arrival["segments"].as_array().into_iter().flatten() {
                let (at, now) = (segment[0].as_f64(), segment[1].as_f64());
                let (at, now) = (at.unwrap_or(0.0), now.unwrap_or(0.0));
                // Two points at one time are a step.
                points.extend(before.map(|before| format!("[{}, {}]", span(at), rate(before))));
                points.push(format!("[{}, {}]", span(at), rate(now)));
                before = Some(now);
            }
            format!(
                "{{ profile: {{ points: [ {} ], process: {process} }} }}",
                points.join(", ")
            )
        }
        _ => panic!("no arrivals are called {arrival}"),
    }
}

/// A program that works and then fails with probability `failure`.
#[must_use]
pub(super) fn work_then_fail(work: Option<&str>, failure: f64) -> String {
    let work = work.map(|law| format!("{{ work: {law} }}"));
    let outcome = match failure {
        0.0 => None,
        1.0 => Some("{ respond: { fail: unavailable } }".to_owned()),
        _ => Some(format!(
            "{{ choose: [ {{ weight: {failure}, do: {{ respond: {{ fail: unavailable }} }} }}, \
             {{ weight: {}, do: {{ respond: ok }} }} ] }}",
            1.0 - failure
        )),
    };
    let steps: Vec<String> = work.into_iter().chain(outcome).collect();
    format!("[ {} ]", steps.join(", "))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn laws_are_written_by_mean_and_shape() {
        assert_eq!(
            law(&json!({ "type": "exp", "rate": 4.0 })),
            "{ exponential: 250ms }"
        );
        assert_eq!(
            law(&json!({ "type": "erlang", "k": 4, "rate": 4.0 })),
            "{ erlang: { shape: 4, mean: 1s } }"
        );
        let two = law(&json!({ "type": "hyperexp", "p": [0.75, 0.25], "rates": [1.0, 0.5] }));
        assert_eq!(
            two,
            "{ mixture: [ { weight: 0.75, law: { exponential: 1s } }, { weight: 0.25, law: { exponential: 2s } } ] }"
        );
    }

    #[test]
    fn a_change_of_rate_is_a_step() {
        let change = json!({ "type": "piecewise_poisson", "segments": [[0, 0.8], [100, 1.6]] });
        assert_eq!(
            arrivals(&change),
            "{ profile: { points: [ [0s, 0.8/s], [100s, 0.8/s], [100s, 1.6/s] ], process: poisson } }"
        );
    }
}
