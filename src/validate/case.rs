//! A reference case as it is written (`retry-ref/1`).

use indexmap::IndexMap;
use serde::Deserialize;
use serde_json::Value as Json;

use super::tolerance::Tolerance;
use crate::shipped;

const FOLDER: &str = "tests/data/reference-cases/";
const SCHEMA: &str = "retry-ref/1";

/// A small model whose answers are known from elsewhere.
#[derive(Clone, Debug, Deserialize)]
pub struct Case {
    schema: String,
    /// Its name.
    pub id: String,
    /// Cases that are run by the same rules.
    pub family: String,
    /// What it is.
    pub title: String,
    /// The model, in the words of its family.
    pub model: Json,
    /// How long and how often it was meant to be run.
    #[serde(default)]
    pub run: RunPlan,
    /// What is known about it, in the order of the file.
    pub metrics: IndexMap<String, Metric>,
    /// Orders that must hold between metrics, for people.
    #[serde(default)]
    pub shapes: Vec<Json>,
    /// Where the values come from.
    #[serde(default)]
    pub source: Vec<String>,
    /// Caveats.
    #[serde(default)]
    pub notes: String,
}

/// How long and how often a case was meant to be run. Families read what applies to them.
#[derive(Clone, Debug, Default, Deserialize)]
pub struct RunPlan {
    /// Independent runs.
    pub replications: Option<u32>,
    /// Arrivals measured in each.
    pub customers_per_replication: Option<u64>,
    /// Arrivals before measuring.
    pub warmup_customers: Option<u64>,
    /// Seconds simulated.
    pub duration: Option<f64>,
    /// Seconds before measuring.
    pub discard: Option<f64>,
    /// Draws, where there is no run.
    pub samples: Option<u64>,
}

/// One known value.
#[derive(Clone, Debug, Deserialize)]
pub struct Metric {
    /// A number; or true or false; or known answers, as a list of whole numbers in text.
    pub expected: Json,
    /// How it was computed.
    #[serde(default)]
    pub method: String,
    /// How far off it may be itself: numerical error, or two standard errors.
    #[serde(default)]
    pub reference_error: f64,
    /// What agreement is.
    pub tol: Tolerance,
    /// What of the model belongs to this metric alone.
    #[serde(default)]
    pub parameters: Json,
}

impl Metric {
    /// The expected value as a number: `true` is 1, `false` is 0, and that all known answers are given is 1.
    #[must_use]
    pub fn expected(&self) -> Option<f64> {
        match &self.expected {
            Json::Bool(yes) => Some(f64::from(u8::from(*yes))),
            Json::Array(_) => Some(1.0),
            other => other.as_f64(),
        }
    }
}

/// How long and how often a case is run.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Size {
    /// Independent runs.
    pub replications: u32,
    /// Arrivals measured in each.
    pub customers: f64,
    /// Arrivals before measuring.
    pub warmup: f64,
}

/// Arrivals that are tried first, in all replications, and the least part of a plan.
const FIRST: f64 = 2_500_000.0;
const LEAST: f64 = 0.2;

/// Runs of more arrivals than this are not made longer but more: their logs would not fit into memory.
const LONG: f64 = 400_000.0;

impl Case {
    /// The planned size, `scale` times as long.
    #[must_use]
    pub fn size(&self, scale: f64) -> Size {
        let replications = f64::from(self.run.replications.unwrap_or(30));
        let customers = self.run.customers_per_replication.unwrap_or(1) as f64;
        let (longer, more) = if customers > LONG {
            (1.0, scale)
        } else {
            let longer = scale.min((LONG / customers).max(1.0));
            (longer, scale / longer)
        };
        Size {
            replications: (replications * more).ceil() as u32,
            customers: customers * longer,
            warmup: self.run.warmup_customers.unwrap_or(0) as f64,
        }
    }

    /// How much of the planned length is tried first. Plans are generous; where every known value asks for a precision, and is
    /// run again until it has it, less is often enough.
    #[must_use]
    pub fn first_scale(&self) -> f64 {
        let planned = f64::from(self.run.replications.unwrap_or(1))
            * self.run.customers_per_replication.unwrap_or(1) as f64;
        let all_random = self.metrics.values().all(|metric| metric.tol.is_random());
        match all_random {
            true => (FIRST / planned).clamp(LEAST, 1.0),
            false => 1.0,
        }
    }

    /// All cases, in alphabetical order.
    ///
    /// # Panics
    /// When a shipped case is not what the schema says, which a test rules out.
    #[must_use]
    pub fn all() -> Vec<Case> {
        shipped::below(FOLDER)
            .map(|(path, text)| {
                let case: Case =
                    serde_json::from_str(text).unwrap_or_else(|e| panic!("{path}: {e}"));
                assert_eq!(case.schema, SCHEMA, "{path}");
                case
            })
            .collect()
    }

    /// A number of the model by its JSON pointer.
    ///
    /// # Panics
    /// When it is not there: the family and the case do not fit, which a test rules out.
    #[must_use]
    pub fn number(&self, pointer: &str) -> f64 {
        self.get(pointer)
            .as_f64()
            .unwrap_or_else(|| panic!("{}: {pointer} is no number", self.id))
    }

    /// A list of numbers of the model; one number is a list of one.
    ///
    /// # Panics
    /// When it is not there.
    #[must_use]
    pub fn numbers(&self, pointer: &str) -> Vec<f64> {
        match self.get(pointer) {
            Json::Array(list) => list.iter().filter_map(Json::as_f64).collect(),
            _ => vec![self.number(pointer)],
        }
    }

    /// A part of the model.
    ///
    /// # Panics
    /// When it is not there.
    #[must_use]
    pub fn get(&self, pointer: &str) -> &Json {
        self.model
            .pointer(pointer)
            .unwrap_or_else(|| panic!("{}: the model has no {pointer}", self.id))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_longer_run_is_longer_until_its_log_would_be_too_long() {
        let case = |customers| Case {
            run: RunPlan {
                replications: Some(30),
                customers_per_replication: Some(customers),
                ..RunPlan::default()
            },
            ..Case::all().swap_remove(0)
        };
        let of = |customers, scale| {
            let size = case(customers).size(scale);
            (size.customers, size.replications)
        };
        assert_eq!(of(20_000, 4.0), (80_000.0, 30));
        assert_eq!(of(200_000, 4.0), (400_000.0, 60));
        assert_eq!(of(2_000_000, 2.0), (2_000_000.0, 60));
    }

    #[test]
    fn long_plans_begin_short_where_precision_is_asked_for() {
        let case = |id: &str| Case::all().into_iter().find(|case| case.id == id).unwrap();
        let planned = |id: &str| {
            let size = case(id).size(1.0);
            f64::from(size.replications) * size.customers
        };
        let retrial = case("retrial-mm22-rho07");
        assert!(planned(&retrial.id) > 3.0 * FIRST);
        assert_eq!(retrial.first_scale(), FIRST / planned(&retrial.id));
        // A fixed bound is met or not: it is run as planned, as is what is short anyway.
        assert_eq!(case("sre-bimodal-threads").first_scale(), 1.0);
        assert_eq!(case("pf-retry-3x-c4").first_scale(), 1.0);
    }

    #[test]
    fn all_cases_are_there_and_readable() {
        let cases = Case::all();
        assert_eq!(cases.len(), 90);
        let metrics: usize = cases.iter().map(|case| case.metrics.len()).sum();
        assert_eq!(metrics, 716);
        for case in &cases {
            assert!(!case.source.is_empty(), "{}", case.id);
        }
    }
}
