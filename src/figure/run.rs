//! What is reported about a run as a whole, and about a client.

use sim::metrics::{ClientCount, Outcome};
use sim::scenario::model::Scenario;

use super::calls::{self, WholeCalls, WindowCalls};
use super::column::Column;
use super::top_edges;

/// A whole run.
#[derive(Clone, Debug)]
pub struct WholeRun {
    /// The calls of all clients.
    pub calls: WholeCalls,
    /// Events handled.
    pub events: u64,
    /// The most calls in flight at once, all layers.
    pub calls_in_flight_max: u64,
}

/// A client over the whole measured time.
#[derive(Clone, Debug)]
pub struct WholeClient {
    /// Its calls.
    pub calls: WholeCalls,
    /// Its iterations.
    pub count: ClientCount,
}

/// A client in one window.
#[derive(Clone, Debug)]
pub struct WindowClient {
    /// Its calls.
    pub calls: WindowCalls,
    /// Its iterations.
    pub count: ClientCount,
}

impl WholeRun {
    /// Of `outcome`.
    #[must_use]
    pub fn of(scenario: &Scenario, outcome: &Outcome) -> WholeRun {
        WholeRun {
            calls: WholeCalls::of(outcome, &top_edges(scenario)),
            events: outcome.events,
            calls_in_flight_max: outcome.calls_in_flight_max,
        }
    }
}

/// What is reported about a whole run.
#[must_use]
pub fn whole() -> Vec<Column<WholeRun>> {
    let mut columns: Vec<Column<WholeRun>> = calls::whole()
        .into_iter()
        .map(|c| c.within(|r: &WholeRun| &r.calls))
        .collect();
    columns.extend([
        Column::count(
            "calls_in_flight_max",
            "The most calls in flight at once, all layers.",
            |r: &WholeRun| r.calls_in_flight_max,
        ),
        Column::count(
            "events",
            "Events the simulator handled; what follows from one at once is part of it.",
            |r: &WholeRun| r.events,
        ),
    ]);
    columns
}

fn iterations() -> Vec<Column<ClientCount>> {
    vec![
        Column::count(
            "iterations",
            "Runs of the client's program begun.",
            |c: &ClientCount| c.iterations,
        ),
        Column::count(
            "iterations_ok",
            "Runs in which nothing failed that was not optional.",
            |c: &ClientCount| c.iterations_ok,
        ),
        Column::count(
            "iterations_failed",
            "Runs in which something did.",
            |c: &ClientCount| c.iterations_failed,
        ),
    ]
}

/// What is reported about a client over the whole measured time.
#[must_use]
pub fn whole_client() -> Vec<Column<WholeClient>> {
    let own = iterations()
        .into_iter()
        .map(|c| c.within(|r: &WholeClient| &r.count));
    own.chain(
        calls::whole()
            .into_iter()
            .map(|c| c.within(|r: &WholeClient| &r.calls)),
    )
    .collect()
}

/// What is reported about a client in one window.
#[must_use]
pub fn window_client() -> Vec<Column<WindowClient>> {
    let own = iterations()
        .into_iter()
        .map(|c| c.within(|r: &WindowClient| &r.count));
    own.chain(
        calls::window()
            .into_iter()
            .map(|c| c.within(|r: &WindowClient| &r.calls)),
    )
    .collect()
}
