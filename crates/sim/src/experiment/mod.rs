//! Experiments: a question about a scenario, and the grid of worlds that answers it.

mod axis;
mod file;
mod plot;
mod promise;

use serde_json::{Value as Json, json};

pub use axis::{Axis, COLUMNS, Step};
pub use plot::{Heatmap, Line, Plot};
pub use promise::Promise;

use crate::expect::{self, Expectation, Measure};
use crate::scenario::names::Names;
use crate::scenario::problem::Problems;
use crate::scenario::tree::{At, read};
use crate::scenario::written::{Defs, Entry, Table, Written, mend};
use crate::scenario::{Override, Scenario, Source, VERSION, drop_unread};
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
    /// What must hold at which points.
    pub promises: Vec<Promise>,
    model: At<String>,
    measures: Vec<At<String>>,
    measure_labels: Vec<String>,
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
    let mut defs = defs.into_json();
    let file = &mut defs["Experiment"];
    file["properties"]["$schema"] = json!({
        "description": "Where editors find this schema; not read.",
        "type": "string",
    });
    file["patternProperties"] = json!({
        "^x-": { "description": "Not read: a place for YAML anchors that others refer to." },
    });
    json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "retrystorm experiment",
        "$ref": root["$ref"],
        "$defs": defs,
    })
}

/// Reads an experiment.
///
/// # Errors
/// Everything that is wrong with it, at once.
pub fn load(source: &Source<'_>) -> Result<Experiment, Problems> {
    match read_with_problems(source) {
        (Some(experiment), problems) if problems.is_empty() => Ok(experiment),
        (_, problems) => Err(problems),
    }
}

/// Reads an experiment as far as it can be read, and says what is wrong with it: so that what is wrong with
/// its points can be said as well.
#[must_use]
pub fn read_with_problems(source: &Source<'_>) -> (Option<Experiment>, Problems) {
    let mut problems = Problems::of(source.name);
    let root = read(source.text, source.format, 0, &mut problems);
    let file = root.and_then(|mut root| {
        drop_unread(&mut root);
        ExperimentFile::decode(&root, &mut problems)
    });
    let experiment = file.and_then(|file| mean(file, source.name, &mut problems));
    (experiment, problems.sorted())
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
                problems.within(&name, |problems| values.mean(&entry.name, source, problems))
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
    for (i, measure) in measures.iter().enumerate() {
        if names[..i].contains(&names[i]) {
            let message = format!("measure: `{}` is there twice", measure.value);
            problems.report(measure.at, message);
        }
    }
    let plots = plot::mean(&file.plots, &axes, &names, problems);
    let promises = promise::mean(file.expect, &axes, problems);
    let measure_labels = labels(file.labels, &mut axes, &names, problems);
    Some(Experiment {
        question: file.question.0?,
        description: file.description.unwrap_or_default(),
        set: {
            let settings = file.set.0.into_iter();
            settings
                .filter_map(|entry| axis::setting(entry, source))
                .collect()
        },
        seed: file.seed,
        replications: file.replications.0,
        plots: if plots.is_empty() {
            plot::by_default(&axes, &names)
        } else {
            plots
        },
        axes,
        promises,
        model: file.model.0?,
        measures,
        measure_labels,
        source: source.into(),
    })
}

/// Gives axes their labels, and returns those of the measures.
fn labels(
    written: Table<At<String>>,
    axes: &mut [Axis],
    measures: &[&str],
    problems: &mut Problems,
) -> Vec<String> {
    let mut labels: Vec<String> = measures.iter().map(|name| (*name).into()).collect();
    for Entry { name, value } in written.0 {
        let Some(label) = value else { continue };
        if let Some(axis) = axes.iter_mut().find(|axis| axis.name == name.value) {
            axis.label = label.value;
        } else if let Some(i) = measures.iter().position(|known| *known == name.value) {
            labels[i] = label.value;
        } else {
            let known = axes.iter().map(|axis| axis.name.as_str());
            let mend = mend(&name.value, known.chain(measures.iter().copied()));
            let message = format!(
                "labels: nothing is varied or measured under `{}`: {mend}",
                name.value
            );
            problems.report(name.at, message);
        }
    }
    labels
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

    /// What is measured in words for people.
    pub fn measure_labels(&self) -> impl Iterator<Item = &str> {
        self.measure_labels.iter().map(String::as_str)
    }

    /// The promises about the point with these steps, whose scenario this is, by their index.
    ///
    /// # Errors
    /// Every promise that is wrong.
    pub fn promises_at(
        &self,
        steps: &[usize],
        scenario: &Scenario,
    ) -> Result<Vec<(usize, Expectation)>, Problems> {
        let mut problems = Problems::of(&self.source);
        let mut meant = Vec::new();
        for (i, promise) in self.promises.iter().enumerate() {
            if !promise.is_about(steps) {
                continue;
            }
            match expect::parse(&promise.holds, &Names::of(scenario), Some(&scenario.run)) {
                Ok(expectation) => meant.push((i, expectation)),
                Err(message) => {
                    let message = format!("expect.{i}: {:?}: {message}", promise.holds);
                    problems.report(promise.place, message);
                }
            }
        }
        if problems.is_empty() {
            Ok(meant)
        } else {
            Err(problems)
        }
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
