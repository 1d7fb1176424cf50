//! How the cases of each family become scenarios and what is read off them.

mod chains;
mod coverage;
mod deadline;
mod hedge;
mod layers;
mod library;
mod station;
mod transient;

use super::case::Case;
use super::plan::Plan;

/// What a case becomes, `scale` times as long as it was meant to be.
///
/// # Errors
/// The feature that is missing.
pub fn plan(case: &Case, scale: f64) -> Result<Plan, String> {
    let backoff = case.model["client"]["backoff"].as_array();
    if backoff.is_some_and(|laws| laws.iter().any(|law| law["type"] == "exp")) {
        return Err("a backoff drawn from an exponential cannot be written yet".into());
    }
    let experiments = match case.family.as_str() {
        "mm1" | "mmc" | "mg1" | "mdc" | "gim1" | "closed" | "network" | "product-form-retry"
        | "loss" | "limited-retry" | "retrial" | "impatience" | "discipline" | "priority"
        | "zombie" => station::experiments(case, scale)?,
        "deadline" => deadline::experiments(case, scale),
        "transient" => transient::experiments(case, scale),
        "layers" => layers::experiments(case, scale),
        "forkjoin" => layers::fork_join(case, scale),
        "hedge" => hedge::experiments(case, scale)?,
        "budget" => chains::budget(case, scale),
        "breaker" => chains::breaker(case, scale),
        "statistics" => coverage::experiments(case),
        "rng" => library::rng(case),
        "backoff" => library::backoff(case, scale),
        other => return Err(format!("no way yet to run the family `{other}`")),
    };
    Ok(Plan { experiments })
}
