//! How the cases of each family become scenarios and what is read off them.

mod chains;
mod contended;
mod coverage;
mod deadline;
mod deterministic;
mod hedge;
mod layers;
mod library;
mod metastable;
mod orbit;
mod overload;
mod pool;
mod published;
mod station;
mod transient;
mod zombie;

use super::case::Case;
use super::plan::Plan;

/// What a case becomes, `scale` times as long as it was meant to be.
///
/// # Errors
/// The feature that is missing.
pub fn plan(case: &Case, scale: f64) -> Result<Plan, String> {
    let experiments = match case.family.as_str() {
        "retrial" if case.model["client"]["orbit_policy"] == "constant" => {
            orbit::experiments(case, scale)
        }
        "loss" if pool::is_one(case) => pool::experiments(case, scale),
        "mm1" | "mmc" | "mg1" | "mdc" | "gim1" | "closed" | "network" | "product-form-retry"
        | "loss" | "limited-retry" | "retrial" | "impatience" | "discipline" | "priority" => {
            station::experiments(case, scale)?
        }
        "zombie" => zombie::experiments(case, scale)?,
        "metastable" => metastable::experiments(case)?,
        "deterministic" => deterministic::experiments(case)?,
        "overload" => overload::retried(case),
        "throttle" => overload::throttled(case),
        "published-retry-policy" => published::retry_policies(case),
        "published-collapse" => published::collapse(case, scale),
        "published-backoff" => contended::experiments(case, scale),
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
