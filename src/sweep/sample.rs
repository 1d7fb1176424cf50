//! A small experiment and made-up results of it, for tests of what reports and plots do with them.

use std::fs;

use sim::metrics::Ended;

use super::plan::{Asked, Plan};
use super::results::{Results, Run};
use crate::input::Input;
use crate::shipped::Folder;

const EXPERIMENT: &str = "\
version: 1
question: What does the load do?
model: metastable
set: { run.duration: 2min, faults.0.at: 20s, expect: [] }
replications: 2
vary:
  clients.web.arrivals.poisson: [ 100/s, 200/s, 300/s, 400/s, 500/s ]
  policy: { variants: { as it is: {}, once: { policies.sdk.retry.max_attempts: 1 } } }
measure: [ verdict, recovery_time ]
labels: { clients.web.arrivals.poisson: load }
plots:
  - line: { x: clients.web.arrivals.poisson, y: recovery_time, series: policy }
  - heatmap: { x: clients.web.arrivals.poisson, y: policy, value: recovery_time }
  - heatmap: { x: clients.web.arrivals.poisson, y: policy, value: verdict }
expect:
  - { holds: verdict != metastable }
  - { at: { clients.web.arrivals.poisson: 500/s }, holds: verdict == healthy }
";

/// Five loads by two policies, two replications each.
pub(super) fn plan() -> Plan {
    let folder = tempfile::tempdir().expect("a folder for the test");
    let file = folder.path().join("small.yaml");
    fs::write(&file, EXPERIMENT).expect("writable");
    let input = Input::open(&file, Folder::Experiments).expect("readable");
    Plan::of(&input, Asked::default(), 1).expect("nothing is wrong with it")
}

/// One replication: healthy, recovered after some seconds, or metastable.
pub(super) enum Became {
    Healthy,
    Recovered(f64),
    Metastable,
}

/// What became of the replications of each point; a point that is not there was not run.
pub(super) fn results(plan: &Plan, became: &[[Became; 2]]) -> Results {
    let mut runs = vec![vec![None; plan.replications as usize]; plan.spots.len()];
    for (spot, replications) in became.iter().enumerate() {
        for (replication, became) in replications.iter().enumerate() {
            let (verdict, recovery) = match became {
                Became::Healthy => (0.0, Some(0.0)),
                Became::Recovered(seconds) => (2.0, Some(*seconds)),
                Became::Metastable => (3.0, None),
            };
            let promised = plan.spots[spot].promises.iter().map(|_| Some(verdict));
            runs[spot][replication] = Some(Run {
                ended: Ended::Completed,
                trajectory: 0xfeed,
                values: [Some(verdict), recovery]
                    .into_iter()
                    .chain(promised)
                    .collect(),
            });
        }
    }
    Results { runs }
}
