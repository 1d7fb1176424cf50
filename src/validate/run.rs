//! Runs cases and judges them.

use std::time::Instant;

use indexmap::IndexMap;
use rayon::prelude::*;

use super::case::Case;
use super::plan::{Experiment, Plan};
use super::tolerance::Verdict;
use crate::interrupt;
use crate::stats::Estimate;

/// How often a case is run again, longer, when it was imprecise or off.
const REPEATS: u32 = 3;
/// The longest it is run, in planned lengths.
const SCALE_MAX: f64 = 64.0;

/// What came of one case.
#[derive(Clone, Debug)]
pub struct Finding {
    /// What is known.
    pub case: Case,
    /// What was found, in the order of the file.
    pub metrics: Vec<Compared>,
    /// The feature that is missing, if it could not be run.
    pub missing: Option<String>,
    /// Why parts of it were run again.
    pub repeats: Vec<String>,
    /// Wall-clock seconds it took.
    pub seconds: f64,
}

/// One known value and the one found.
#[derive(Clone, Debug)]
pub struct Compared {
    /// Its name.
    pub name: String,
    /// The known value; `None` only where it is no number.
    pub expected: Option<f64>,
    /// The value found.
    pub found: Estimate,
    /// What came of it.
    pub verdict: Verdict,
}

impl Finding {
    /// Whether nothing is off.
    #[must_use]
    pub fn passed(&self) -> bool {
        let good = |m: &Compared| matches!(m.verdict, Verdict::Passed | Verdict::Informative);
        self.missing.is_none() && self.metrics.iter().all(good)
    }
}

/// Runs one case on the threads of the current pool. `None` when Ctrl-C was pressed.
#[must_use]
pub fn run(case: &Case, seed: u64) -> Option<Finding> {
    let begun = Instant::now();
    let mut finding = Finding {
        case: case.clone(),
        metrics: Vec::new(),
        missing: None,
        repeats: Vec::new(),
        seconds: 0.0,
    };
    let mut off: Vec<String> = case.metrics.keys().cloned().collect();
    let mut by_name: IndexMap<String, Compared> = IndexMap::new();
    let (mut scale, mut seed) = (case.first_scale(), seed_of(case, seed));
    for repeat in 0..=REPEATS {
        let plan = match super::plan(case, scale) {
            Ok(plan) => plan,
            Err(feature) => {
                finding.missing = Some(feature);
                break;
            }
        };
        let found = execute(&plan, &off, seed)?;
        for name in &off {
            let trials = plan.experiments.iter().find_map(|e| e.trials_of(name));
            let compared = compare(case, name, found.get(name), trials);
            by_name.insert(name.clone(), compared);
        }
        off = again(case, &by_name);
        if off.is_empty() || repeat == REPEATS {
            break;
        }
        let longer = off.iter().map(|name| needed(by_name[name].verdict));
        scale = (scale * longer.fold(1.0, f64::max)).min(SCALE_MAX);
        let differ = off
            .iter()
            .any(|name| by_name[name].verdict == Verdict::Failed);
        if differ {
            seed = seed.wrapping_add(1 << 32);
        }
        finding.repeats.push(format!(
            "{}: run again {scale:.1} times as long{}",
            off.join(", "),
            if differ { " with a new seed" } else { "" }
        ));
    }
    let known = case.metrics.keys();
    finding.metrics = known.filter_map(|name| by_name.swap_remove(name)).collect();
    finding.seconds = begun.elapsed().as_secs_f64();
    Some(finding)
}

/// How much longer a run has to be: twice when it was off; when it was imprecise, by the square of what is missing
/// and a bit more, at least twice.
fn needed(verdict: Verdict) -> f64 {
    match verdict {
        Verdict::Imprecise {
            half_width,
            allowed,
        } => (1.3 * (half_width / allowed) * (half_width / allowed)).max(2.0),
        _ => 2.0,
    }
}

/// Metrics for which another, longer run may say more.
fn again(case: &Case, by_name: &IndexMap<String, Compared>) -> Vec<String> {
    let random = |name: &String| case.metrics[name].tol.is_random();
    by_name
        .iter()
        .filter(|(name, compared)| {
            matches!(
                compared.verdict,
                Verdict::Failed | Verdict::Imprecise { .. }
            ) && random(name)
        })
        .map(|(name, _)| name.clone())
        .collect()
}

/// Runs the experiments that have to do with `names`; one estimate per metric.
fn execute(plan: &Plan, names: &[String], seed: u64) -> Option<IndexMap<String, Estimate>> {
    let concerned = |experiment: &&Experiment| {
        let suffix = format!("_{}", experiment.variant);
        experiment.variant.is_empty() || names.iter().any(|name| name.ends_with(&suffix))
    };
    let cells: Vec<(&Experiment, u64)> = plan
        .experiments
        .iter()
        .filter(concerned)
        .flat_map(|experiment| {
            (0..u64::from(experiment.replications)).map(move |i| (experiment, seed.wrapping_add(i)))
        })
        .collect();
    let values: Option<Vec<_>> = cells
        .par_iter()
        .map(|(experiment, seed)| (!interrupt::asked()).then(|| experiment.run(*seed)))
        .collect();
    let mut by_name: IndexMap<String, Vec<Option<f64>>> = IndexMap::new();
    for (name, value) in values?.into_iter().flatten() {
        by_name
            .entry(name)
            .or_default()
            .push(value.is_finite().then_some(value));
    }
    Some(
        by_name
            .into_iter()
            .map(|(name, values)| (name, Estimate::of(values)))
            .collect(),
    )
}

fn compare(case: &Case, name: &str, found: Option<&Estimate>, trials: Option<f64>) -> Compared {
    let metric = &case.metrics[name];
    let found = found.cloned().unwrap_or_default();
    let verdict = match metric.expected() {
        Some(expected) => {
            let reference_error = metric.reference_error;
            metric.tol.judge(&found, expected, reference_error, trials)
        }
        None => Verdict::Failed,
    };
    Compared {
        name: name.to_owned(),
        expected: metric.expected(),
        found,
        verdict,
    }
}

/// A seed of the case's own, far from those of other cases: FNV-1a of its name, mixed with `seed`.
fn seed_of(case: &Case, seed: u64) -> u64 {
    case.id
        .bytes()
        .fold(0xcbf2_9ce4_8422_2325 ^ seed, |hash, byte| {
            (hash ^ u64::from(byte)).wrapping_mul(0x100_0000_01b3)
        })
}
