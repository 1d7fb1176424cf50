//! What all replications of a run come to: every figure of every subject, with its interval.

use sim::metrics::Outcome;
use sim::scenario::model::Scenario;

use super::single::Single;
use crate::figure::{self, Declared, Scope, Subject};
use crate::stats::Estimate;

/// Every figure of every subject.
#[derive(Clone, Debug)]
pub struct Summary {
    /// In the order of reports.
    pub rows: Vec<Row>,
}

/// The figures of one subject.
#[derive(Clone, Debug)]
pub struct Row {
    /// What they are about.
    pub subject: Subject,
    /// In the order of [`Scope::whole`].
    pub figures: Vec<(Declared, Estimate)>,
}

impl Summary {
    /// Over `outcomes`, one per replication; the only one of a steady world by its batches.
    #[must_use]
    pub fn of(scenario: &Scenario, outcomes: &[Outcome]) -> Summary {
        let single = match outcomes {
            [only] => Some(Single::of(scenario, only)),
            _ => None,
        };
        let row = |subject: Subject| {
            let values: Vec<Vec<Option<f64>>> = outcomes
                .iter()
                .map(|o| figure::whole(scenario, o, &subject))
                .collect();
            let declared = subject.scope.whole();
            let estimates: Vec<Estimate> = match (&single, &values[..]) {
                (Some(single), [only]) => single.estimates(&subject, only),
                _ => (0..declared.len())
                    .map(|i| Estimate::of(values.iter().map(|v| v[i])))
                    .collect(),
            };
            let figures = declared.into_iter().zip(estimates).collect();
            Row { subject, figures }
        };
        Summary {
            rows: figure::subjects(scenario).into_iter().map(row).collect(),
        }
    }

    /// The rows of one scope.
    pub fn of_scope(&self, scope: Scope) -> impl Iterator<Item = &Row> {
        self.rows
            .iter()
            .filter(move |row| row.subject.scope == scope)
    }

    /// All clients together.
    #[must_use]
    pub fn run(&self) -> &Row {
        &self.rows[0]
    }
}

impl Row {
    /// The estimate of the figure called `name`.
    ///
    /// # Panics
    /// When there is no such figure in this scope: names are declared in this program.
    #[must_use]
    pub fn get(&self, name: &str) -> &Estimate {
        let found = self
            .figures
            .iter()
            .find(|(declared, _)| declared.name == name);
        &found
            .unwrap_or_else(|| panic!("no figure {name} of a {}", self.subject.scope.name()))
            .1
    }

    /// The mean of the figure called `name`; panics as [`Row::get`] does.
    #[must_use]
    pub fn mean(&self, name: &str) -> Option<f64> {
        self.get(name).mean
    }
}
