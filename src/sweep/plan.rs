//! What a sweep is going to do: every point of the grid, checked before anything runs.

use sha2::{Digest, Sha256};
use sim::expect::{Expectation, Measure};
use sim::experiment::{self, Axis, Experiment};
use sim::scenario::{Override, Scenario, Source};

use crate::error::Error;
use crate::input::{Input, hex};
use crate::interrupt;
use crate::replicate;
use crate::shipped::Folder;

/// An experiment of which every point can run.
#[derive(Clone, Debug)]
pub struct Plan {
    /// What results are called by.
    pub name: String,
    /// What was asked.
    pub experiment: Experiment,
    /// What is measured, as at the last point; at others the same names may have other indices.
    pub measures: Vec<Measure>,
    /// Every point, the last axis fastest.
    pub spots: Vec<Spot>,
    /// Runs at each point.
    pub replications: u32,
    /// Every file that was read, with the SHA-256 of its bytes: the experiment, the model, its data.
    pub files: Vec<(String, String)>,
    /// SHA-256 over all that decides about the results.
    pub hash: String,
    /// Simulated time of each run, in seconds, if it is the same everywhere.
    pub duration: Option<f64>,
    model: Input,
}

/// A point of the grid that can run.
#[derive(Clone, Debug)]
pub struct Spot {
    /// By axis: which of its steps.
    pub steps: Vec<usize>,
    /// The promises about it, by their index in the experiment.
    pub promises: Vec<(usize, Expectation)>,
    /// The seed of its first replication.
    pub seed: u64,
    /// SHA-256 over the world it is.
    pub hash: String,
    overrides: Vec<Override>,
}

/// What was asked on the command line.
#[derive(Clone, Copy, Debug, Default)]
pub struct Asked<'a> {
    /// Seed of the first replication at every point.
    pub seed: Option<u64>,
    /// Runs at each point.
    pub replications: Option<u32>,
    /// Values for every point that is not varied.
    pub overrides: &'a [Override],
}

impl Plan {
    /// Reads the experiment in `input`, its model, and every point, on `jobs` threads.
    ///
    /// # Errors
    /// [`Error::Scenario`] with everything that is wrong with the experiment and with any of its points;
    /// [`Error::Io`]; [`Error::Interrupted`].
    pub fn of(input: &Input, asked: Asked<'_>, jobs: usize) -> Result<Plan, Error> {
        let source = Source {
            name: &input.shown,
            text: &input.text,
            format: input.format,
        };
        let (experiment, mut problems) = experiment::read_with_problems(&source);
        let Some(experiment) = experiment else {
            return Err(Error::Scenario(problems));
        };
        let model = match input.open_named(experiment.model(), Folder::Models) {
            Ok(model) => model,
            Err(error) => {
                problems.absorb(&experiment.wrong_model(&error.to_string()));
                return Err(Error::Scenario(problems.sorted()));
            }
        };
        refuse_varied(&experiment, asked.overrides)?;
        let points = experiment.points();
        let fixed = experiment.set.len();
        let checked = replicate::on_threads(jobs, &points, |point| {
            if interrupt::asked() {
                return None;
            }
            // What was typed stands between what holds everywhere and what is varied.
            let mut overrides = point.overrides.clone();
            overrides.splice(fixed..fixed, asked.overrides.iter().cloned());
            Some(check(&experiment, &model, asked, &point.steps, overrides))
        })?;
        let mut spots = Vec::with_capacity(points.len());
        let mut measures = Vec::new();
        let mut files = vec![(
            input.shown.clone(),
            hex(Sha256::digest(input.text.as_bytes())),
        )];
        let mut durations = Vec::new();
        for checked in checked {
            match checked.ok_or(Error::Interrupted)? {
                Ok(right) => {
                    spots.push(right.spot);
                    measures = right.measures;
                    durations.push(right.duration);
                    for file in right.files {
                        if !files.contains(&file) {
                            files.push(file);
                        }
                    }
                }
                Err(Error::Scenario(wrong)) => problems.absorb(&wrong),
                Err(error) => return Err(error),
            }
        }
        if !problems.is_empty() {
            return Err(Error::Scenario(problems.sorted()));
        }
        durations.dedup();
        let replications = asked.replications.unwrap_or(experiment.replications);
        Ok(Plan {
            name: input.name.clone(),
            measures,
            replications,
            files,
            hash: hash(&experiment, &spots, replications),
            duration: match durations[..] {
                [only] => Some(only),
                _ => None,
            },
            spots,
            experiment,
            model,
        })
    }

    /// What is varied.
    #[must_use]
    pub fn axes(&self) -> &[Axis] {
        &self.experiment.axes
    }

    /// All runs: point and replication.
    pub fn runs(&self) -> impl Iterator<Item = (usize, u32)> {
        let replications = self.replications;
        (0..self.spots.len()).flat_map(move |spot| (0..replications).map(move |r| (spot, r)))
    }

    /// The world at a point, with what is measured in it.
    ///
    /// # Errors
    /// [`Error::Scenario`] or [`Error::Usage`] when a file was changed after it was checked.
    pub fn load(&self, spot: usize) -> Result<(Scenario, Vec<Measure>), Error> {
        let spot = &self.spots[spot];
        let loaded = self.model.load(&spot.overrides)?;
        if loaded.hash != spot.hash {
            let message = "the model or its data changed while the experiment ran";
            return Err(Error::Usage(message.into()));
        }
        let measures = self.experiment.measures(&loaded.scenario);
        Ok((loaded.scenario, measures.map_err(Error::Scenario)?))
    }

    /// Where a file that the experiment names was found.
    #[must_use]
    pub fn model(&self) -> &str {
        &self.model.shown
    }
}

impl Spot {
    /// The seed of a replication.
    #[must_use]
    pub fn seed_of(&self, replication: u32) -> u64 {
        self.seed.wrapping_add(u64::from(replication))
    }

    /// The words for its place: `policy = naive, load = 900/s`.
    #[must_use]
    pub fn place(&self, axes: &[Axis]) -> String {
        let on =
            |(axis, &step): (&Axis, &usize)| format!("{} = {}", axis.label, axis.steps[step].label);
        let words: Vec<String> = axes.iter().zip(&self.steps).map(on).collect();
        words.join(", ")
    }
}

/// What is left of a point once it has been found to be right: not its world, which may be large.
struct Right {
    spot: Spot,
    measures: Vec<Measure>,
    files: Vec<(String, String)>,
    duration: f64,
}

fn check(
    experiment: &Experiment,
    model: &Input,
    asked: Asked<'_>,
    steps: &[usize],
    overrides: Vec<Override>,
) -> Result<Right, Error> {
    let loaded = model.load(&overrides)?;
    if loaded.scenario.run.detect_warmup {
        let message = "`run.warmup: auto` would measure every point over another time; \
            see what `retrystorm run` finds, and set it: --set run.warmup=30s";
        return Err(Error::Usage(message.into()));
    }
    let measures = experiment.measures(&loaded.scenario);
    let promises = experiment.promises_at(steps, &loaded.scenario);
    let (measures, promises) = match (measures, promises) {
        (Ok(measures), Ok(promises)) => (measures, promises),
        (Err(mut wrong), Err(more)) => {
            wrong.absorb(&more);
            return Err(Error::Scenario(wrong));
        }
        (Err(wrong), _) | (_, Err(wrong)) => return Err(Error::Scenario(wrong)),
    };
    let seed = asked.seed.or(experiment.seed);
    let spot = Spot {
        steps: steps.into(),
        promises,
        seed: seed.unwrap_or(loaded.scenario.run.seed),
        hash: loaded.hash,
        overrides,
    };
    Ok(Right {
        spot,
        measures,
        files: loaded.files,
        duration: loaded.scenario.run.duration.as_secs_f64(),
    })
}

/// A value typed for what the experiment varies would do nothing.
fn refuse_varied(experiment: &Experiment, overrides: &[Override]) -> Result<(), Error> {
    for Override { path, value, .. } in overrides {
        for axis in &experiment.axes {
            let varied = axis.steps.iter().flat_map(|step| &step.overrides);
            if varied.into_iter().any(|varied| varied.path == *path) {
                return Err(Error::Usage(format!(
                    "--set {path}={value}: the experiment varies `{path}` itself, as `{}`",
                    axis.name
                )));
            }
        }
    }
    Ok(())
}

/// Over the worlds, the seeds and what is measured, but not over titles and labels: those can be changed
/// without running anything again.
fn hash(experiment: &Experiment, spots: &[Spot], replications: u32) -> String {
    let mut hash = Sha256::new();
    hash.update(questions(experiment));
    hash.update(format!("\n{replications}"));
    for spot in spots {
        hash.update(format!("\n{} {}", spot.hash, spot.seed));
    }
    hex(hash.finalize())
}

/// What is measured and promised, in words that differ if either does.
#[must_use]
pub fn questions(experiment: &Experiment) -> String {
    let mut text = String::new();
    for measured in experiment.measured() {
        text += &format!("measure {measured}\n");
    }
    for promise in &experiment.promises {
        text += &format!("promise {} at {:?}\n", promise.holds, promise.at);
    }
    text
}
