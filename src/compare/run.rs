//! Running the worlds with common random numbers.

use std::sync::Arc;

use sim::metrics::Outcome;
use sim::scenario::Scenario;

use super::world::World;
use crate::error::Error;
use crate::progress::Progress;
use crate::replicate;
use crate::report::summary::Summary;
use crate::story::Story;
use crate::warmup::{self, Warmup};

/// A world that was run.
#[derive(Clone, Debug)]
pub struct Ran {
    /// What it is called.
    pub name: String,
    /// The file it was made from, as named.
    pub file: String,
    /// What was run.
    pub scenario: Arc<Scenario>,
    /// SHA-256 over what it was made from, in hex.
    pub hash: String,
    /// One per finished replication; the same seeds in the same order in every world.
    pub outcomes: Vec<Outcome>,
    /// What happened.
    pub story: Story,
}

/// Worlds that were run with the same seeds.
#[derive(Clone, Debug)]
pub struct Comparison {
    /// At least two; the others are compared with the first.
    pub worlds: Vec<Ran>,
    /// Seeds that were finished in all worlds.
    pub seeds: Vec<u64>,
    /// Replications that were asked for.
    pub asked: usize,
    /// Where the warm-up comes from, which is the same in all worlds.
    pub warmup: Warmup,
}

impl Comparison {
    /// Whether Ctrl-C ended it before all replications were done.
    #[must_use]
    pub fn interrupted(&self) -> bool {
        self.seeds.len() < self.asked
    }

    /// The first world.
    #[must_use]
    pub fn base(&self) -> &Ran {
        &self.worlds[0]
    }
}

/// Runs each of `worlds` with each of `seeds`. The kernel draws every arrival, length of work and link delay
/// from a stream named by purpose and entity, so equal seeds mean equal arrivals and equal work whatever the policy.
///
/// # Errors
/// [`Error::Interrupted`] when no seed was finished in all worlds; [`Error::Usage`] without enough threads.
pub fn run(
    worlds: &[World],
    seeds: &[u64],
    jobs: usize,
    progress: &Progress,
) -> Result<Comparison, Error> {
    let (scenarios, warmup) = settled(worlds, seeds, jobs, progress)?;
    // Seed by seed, so that what is finished when Ctrl-C is pressed is finished in every world.
    let all: Vec<(u64, usize)> = seeds
        .iter()
        .flat_map(|&seed| (0..worlds.len()).map(move |world| (seed, world)))
        .collect();
    let outcomes = replicate::on_threads(jobs, &all, |&(seed, world)| {
        replicate::run(&scenarios[world], seed, progress)
    })?;
    let mut finished = Vec::new();
    let mut by_world: Vec<Vec<Outcome>> = vec![Vec::new(); worlds.len()];
    let mut outcomes = outcomes.into_iter();
    for &seed in seeds {
        let of_seed: Vec<Option<Outcome>> = outcomes.by_ref().take(worlds.len()).collect();
        if of_seed.iter().all(Option::is_some) {
            finished.push(seed);
            for (known, outcome) in by_world.iter_mut().zip(of_seed.into_iter().flatten()) {
                known.push(outcome);
            }
        }
    }
    if finished.is_empty() {
        return Err(Error::Interrupted);
    }
    let ran = worlds.iter().zip(scenarios).zip(by_world);
    let ran = ran.map(|((world, scenario), outcomes)| {
        let summary = Summary::of(&scenario, &outcomes);
        Ran {
            name: world.name.clone(),
            file: world.loaded.files[0].0.clone(),
            hash: world.loaded.hash.clone(),
            story: Story::of(&scenario, &outcomes, &summary),
            scenario,
            outcomes,
        }
    });
    Ok(Comparison {
        worlds: ran.collect(),
        seeds: finished,
        asked: seeds.len(),
        warmup,
    })
}

/// The scenarios with a warm-up that is the same for all: where it is to be detected, the longest.
fn settled(
    worlds: &[World],
    seeds: &[u64],
    jobs: usize,
    progress: &Progress,
) -> Result<(Vec<Arc<Scenario>>, Warmup), Error> {
    let (mut scenarios, mut warmup) = (Vec::new(), Warmup::Given);
    for world in worlds {
        let scenario = world.loaded.scenario.clone();
        let (scenario, found) = warmup::settled(scenario, seeds, jobs, progress)?;
        scenarios.push(scenario);
        match (&warmup, &found) {
            (Warmup::NotSettled(_), _) => {}
            (_, Warmup::NotSettled(why)) => {
                warmup = Warmup::NotSettled(format!("in {}, {why}", world.name));
            }
            _ => warmup = found,
        }
    }
    let longest = scenarios.iter().map(|s| s.run.warmup).max();
    let arc = |mut scenario: Scenario| {
        scenario.run.warmup = longest.unwrap_or_default();
        Arc::new(scenario)
    };
    Ok((scenarios.into_iter().map(arc).collect(), warmup))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cli::Talk;
    use crate::compare::difference::{Verdict, differences};
    use crate::compare::world::worlds;
    use crate::replicate::seeds;
    use crate::stats::series::variance;
    use sim::scenario::Override;

    fn compared(with: &str, jobs: usize) -> Comparison {
        let short = Override::parse("run.duration=300s").expect("well written");
        let worlds = worlds(&["mm1".into()], &[with.into()], &[short]).expect("two worlds");
        let quiet = Talk {
            quiet: true,
            no_progress: true,
            no_color: true,
        };
        let progress = Progress::new(quiet, "", 0);
        run(&worlds, &seeds(5, 20), jobs, &progress).expect("finished")
    }

    /// Worlds that met different random numbers would have a difference that varies as both together.
    #[test]
    fn a_difference_varies_far_less_than_the_two_worlds() {
        let faster = "services.server.work={ exponential: { mean: 9ms } }";
        let comparison = compared(faster, 2);
        let waits = |world: &Ran| -> Vec<f64> {
            let services = world.outcomes.iter().map(|o| &o.drained.services[0]);
            services
                .map(|s| s.wait_ns as f64 / s.started as f64)
                .collect()
        };
        let (base, other) = (waits(&comparison.worlds[0]), waits(&comparison.worlds[1]));
        let difference: Vec<f64> = base.iter().zip(&other).map(|(a, b)| b - a).collect();
        let (apart, paired) = (variance(&base) + variance(&other), variance(&difference));
        assert!(paired < 0.3 * apart, "{paired} of {apart}");

        let differences = differences(&comparison.worlds[0], &comparison.worlds[1]);
        let verdict = |name: &str| {
            let found = differences.iter().find(|d| d.figure.name == name);
            found.expect("declared").verdict
        };
        assert_eq!(verdict("calls"), Verdict::Same, "the same arrivals");
        assert_eq!(verdict("wait_mean_ms"), Verdict::Better);
        assert_eq!(verdict("utilisation"), Verdict::Lower);
        assert_eq!(verdict("recovery_time_s"), Verdict::NoData);
    }

    #[test]
    fn a_world_is_the_same_as_itself_for_any_number_of_threads() {
        let drained = "run.drain=61s";
        let (one, three) = (compared(drained, 1), compared(drained, 3));
        let found = differences(&one.worlds[0], &three.worlds[1]);
        let known = found.iter().filter(|d| d.verdict != Verdict::NoData);
        assert!(known.clone().count() > 50);
        for difference in known {
            assert_eq!(difference.verdict, Verdict::Same, "{difference:?}");
        }
    }
}
