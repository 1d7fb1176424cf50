//! What is written in an experiment.

use super::axis::{AxisFile, Raw};
use super::plot::PlotFile;
use super::promise::PromiseFile;
use crate::scenario::tree::At;
use crate::scenario::written::{Several, Table, Tried, Whole, record};

record! {
    /// A question about a scenario, and the grid of worlds that answers it.
    pub(crate) struct ExperimentFile {
        /// Version of this language: 1.
        version: Tried<At<u64>>,
        /// What is asked, in one sentence; the title of the plots.
        question: Tried<String>,
        /// What else there is to say.
        description: Option<String>,
        /// The scenario: a file relative to this one, or the name of a model that comes with the program.
        model: Tried<At<String>>,
        /// Values that hold at every point, by their path in the scenario.
        set: Table<Raw>,
        /// Seed of the first replication at every point. By default the scenario's.
        seed: Option<u64>,
        /// Runs at each point, with consecutive seeds: the same ones at every point, so that points differ
        /// by what is varied alone.
        replications: Whole<1> = 1,
        /// What is varied, by its path in the scenario: every combination of the values is a point.
        vary: Tried<Table<AxisFile>>,
        /// What is measured, as in promises but without a comparison: "amplification(api)", "verdict".
        measure: Tried<Several<At<String>>>,
        /// What is varied and what is measured in words for people: "amplification(api)": "attempts at the API per
        /// call". Pictures and tables say these.
        labels: Table<At<String>>,
        /// What is drawn. By default one plot of the first thing measured.
        plots: Vec<PlotFile>,
        /// What must hold, and at which points; the exit code says whether it does.
        expect: Vec<PromiseFile>,
    }
}
