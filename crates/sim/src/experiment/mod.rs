//! Experiments: a question about a scenario, and the grid of worlds that answers it.

mod axis;
mod file;
mod plot;

use serde_json::{Value as Json, json};

pub use axis::{Axis, Step};
pub use plot::{Heatmap, Line, Plot};

use crate::expect::{self, Measure};
use crate::scenario::problem::Problems;
use crate::scenario::tree::{At, read};
use crate::scenario::written::{Defs, Written};
use crate::scenario::{Override, Scenario, Source, VERSION};
use file::ExperimentFile;

/// More runs than this are a slip of the pen.
const RUNS_MAX: usize = 1_000_000;

/// A question about a scenario, and the grid of worlds that answers it.
#[derive(Clone, Debug)]
pub struct Experiment {
    /// What is asked; the title of its plots.
    pub question: String,
    /// What else there is to say.
    pub description: String,
    /// Values that hold at every point.
    pub set: Vec<Override>,
    /// The seed of the first replication at every point; `None`: the scenario's.
    pub seed: Option<u64>,
    /// Runs at each point, with consecutive seeds, the same ones at every point.
    pub replications: u32,
    /// What is varied; the last one fastest.
    pub axes: Vec<Axis>,
    /// What is drawn.
    pub plots: Vec<Plot>,
    model: At<String>,
    measures: Vec<At<String>>,
    source: String,
}

/// One place in the grid.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Point {
    /// By axis: which of its steps.
    pub steps: Vec<usize>,
    /// What it puts in place of what the scenario says.
    pub overrides: Vec<Override>,
}

/// The JSON Schema of experiment files, with a description and the default of every key.
#[must_use]
pub fn schema() -> Json {
    let mut defs = Defs::default();
    let root = ExperimentFile::schema(&mut defs);
    json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "retrystorm experiment",
        "$ref": root["$ref"],
        "$defs": defs.into_json(),
    })
}

/// Reads an experiment.
///
/// # Errors
/// Everything that is wrong with it, at once.
pub fn load(source: &Source<'_>) -> Result<Experiment, Problems> {
    let mut problems = Problems::of(source.name);
    let root = read(source.text, source.format, 0, &mut problems);
    let file = root.and_then(|root| ExperimentFile::decode(&root, &mut problems));
    let experiment = file.and_then(|file| mean(file, source.name, &mut problems));
    match experiment {
        Some(experiment) if problems.is_empty() => Ok(experiment),
        _ => Err(problems.sorted()),
    }
}

/// What is written means this; `None` only after a problem has been reported.
fn mean(file: ExperimentFile, source: &str, problems: &mut Problems) -> Option<Experiment> {
    if let Some(version) = file.version.0.filter(|version| version.value != VERSION) {
        let message = format!(
            "version: this program reads version {VERSION}, got {}",
            version.value
        );
        problems.report(version.at, message);
    }
    let vary = file.vary.0?;
    let measures = file.measure.0?.0;
    if vary.0.is_empty() {
        problems.report(
            file.position,
            "vary: nothing is varied; `run` runs a scenario as it is",
        );
    }
    let mut axes = Vec::with_capacity(vary.0.len());
    for entry in vary.0 {
        let name = entry.name.value.clone();
        let axis = entry.value.and_then(|values| {
            problems.within("vary", |problems| {
                problems.within(&name, |problems| values.mean(&entry.name, problems))
            })
        });
        axes.extend(axis);
    }
    let steps = axes.iter().map(|axis| axis.steps.len());
    let points = steps.fold(1, usize::saturating_mul);
    let runs = points.saturating_mul(file.replications.0 as usize);
    if runs > RUNS_MAX {
        let message = format!(
            "{points} points with {} replications each are more than {RUNS_MAX} runs",
            file.replications.0
        );
        problems.report(file.position, message);
    }
    let names: Vec<&str> = measures
        .iter()
        .map(|measure| measure.value.as_str())
        .collect();
    let plots = plot::mean(&file.plots, &axes, &names, problems);
    Some(Experiment {
        question: file.question.0?,
        description: file.description.unwrap_or_default(),
        set: file.set.0.into_iter().filter_map(axis::setting).collect(),
        seed: file.seed,
        replications: file.replications.0,
        plots: if plots.is_empty() {
            plot::by_default(&axes, &names)
        } else {
            plots
        },
        axes,
        model: file.model.0?,
        measures,
        source: source.into(),
    })
}

impl Experiment {
    /// The scenario it varies, as written: a file relative to the experiment, or a name.
    #[must_use]
    pub fn model(&self) -> &str {
        &self.model.value
    }

    /// That its scenario is no good, at the place where it names it.
    #[must_use]
    pub fn wrong_model(&self, message: &str) -> Problems {
        let mut problems = Problems::of(&self.source);
        problems.report(self.model.at, format!("model: {message}"));
        problems
    }

    /// What is measured, as written.
    pub fn measured(&self) -> impl Iterator<Item = &str> {
        self.measures.iter().map(|measure| measure.value.as_str())
    }

    /// What is measured in `scenario`.
    ///
    /// # Errors
    /// Every measure that is wrong.
    pub fn measures(&self, scenario: &Scenario) -> Result<Vec<Measure>, Problems> {
        let mut problems = Problems::of(&self.source);
        let mut measures = Vec::with_capacity(self.measures.len());
        for written in &self.measures {
            match expect::measure(&written.value, scenario) {
                Ok(measure) => measures.push(measure),
                Err(message) => {
                    problems.report(
                        written.at,
                        format!("measure: {:?}: {message}", written.value),
                    );
                }
            }
        }
        if problems.is_empty() {
            Ok(measures)
        } else {
            Err(problems)
        }
    }

    /// All places in the grid, the last axis fastest.
    #[must_use]
    pub fn points(&self) -> Vec<Point> {
        let count = self.axes.iter().map(|axis| axis.steps.len()).product();
        (0..count).map(|index| self.point(index)).collect()
    }

    fn point(&self, mut index: usize) -> Point {
        let mut steps = vec![0; self.axes.len()];
        for (step, axis) in steps.iter_mut().zip(&self.axes).rev() {
            *step = index % axis.steps.len();
            index /= axis.steps.len();
        }
        let chosen = steps.iter().zip(&self.axes);
        let varied = chosen.flat_map(|(&step, axis)| axis.steps[step].overrides.iter());
        Point {
            overrides: self.set.iter().chain(varied).cloned().collect(),
            steps,
        }
    }
}
