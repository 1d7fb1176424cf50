//! Figures: everything a run is summed up by, declared once as data.
//!
//! A run is looked at as a whole (all clients together), by client, by edge and by service. For each of
//! these scopes there is one list of [`Column`]s over the whole measured time and one over a window;
//! the tables, the CSV and JSON files and their documentation are all made from these lists.

pub mod answer;
pub mod cache;
pub mod calls;
pub mod coalesce;
pub mod column;
pub mod credential;
pub mod effect;
mod failures;
pub mod messages;
pub mod passage;
pub mod run;
pub mod service;
pub mod session;

use std::sync::LazyLock;

use sim::metrics::{
    AnswerCount, CacheCount, CoalesceCount, CredentialCount, EffectCount, KeyCount, MessageCount,
    Outcome, PassageCount, PoolCount, SessionCount, Window,
};
use sim::scenario::effects::Effect;
use sim::scenario::model::{Caller, Scenario};

use crate::wording;

use calls::{WholeCalls, WindowCalls};
use column::{Column, Unit};
use run::{WholeClient, WholeRun, WindowClient};
use service::{WholeService, WindowService};

/// What a set of figures is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Scope {
    /// All clients together.
    Run,
    /// One population of callers.
    Client,
    /// One caller, service and policy.
    Edge,
    /// One service.
    Service,
    /// One effect of a service; only where there are any.
    Effect,
    /// One store of idempotency keys; only where there are any.
    Keys,
    /// The calls of one edge that have a fallback; only where there are any.
    Answers,
    /// The attempts of one edge over links with phases or connections; only where there are any.
    Phases,
    /// The connections of one caller to one service over one link; only where they are kept.
    Pool,
    /// The tokens of one caller; only where there are any.
    Credential,
    /// Calls of one step that may share one; only where there are any.
    Coalesce,
    /// The caches of one step; only where there are any.
    Cache,
    /// The messages of one service; only where it keeps any.
    Messages,
    /// The sessions with one service; only where there are any.
    Sessions,
}

/// One thing that is reported on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Subject {
    /// Its kind.
    pub scope: Scope,
    /// Its index in the scenario.
    pub index: usize,
    /// Its name in files.
    pub name: String,
}

/// A column without its getter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Declared {
    /// Its key.
    pub name: &'static str,
    /// Its unit.
    pub unit: Unit,
    /// What it is.
    pub meaning: &'static str,
}

struct Tables {
    whole_run: Vec<Column<WholeRun>>,
    whole_client: Vec<Column<WholeClient>>,
    whole_edge: Vec<Column<WholeCalls>>,
    whole_service: Vec<Column<WholeService>>,
    window_run: Vec<Column<WindowCalls>>,
    window_client: Vec<Column<WindowClient>>,
    window_edge: Vec<Column<WindowCalls>>,
    window_service: Vec<Column<WindowService>>,
    effect: Vec<Column<EffectCount>>,
    keys: Vec<Column<KeyCount>>,
    answers: Vec<Column<AnswerCount>>,
    legs: Vec<Column<PassageCount>>,
    pools: Vec<Column<PoolCount>>,
    credentials: Vec<Column<CredentialCount>>,
    shared: Vec<Column<CoalesceCount>>,
    caches: Vec<Column<CacheCount>>,
    messages: Vec<Column<MessageCount>>,
    sessions: Vec<Column<SessionCount>>,
}

static TABLES: LazyLock<Tables> = LazyLock::new(|| Tables {
    whole_run: run::whole(),
    whole_client: run::whole_client(),
    whole_edge: calls::whole(),
    whole_service: service::whole(),
    window_run: calls::window(),
    window_client: run::window_client(),
    window_edge: calls::window(),
    window_service: service::window(),
    effect: effect::effect(),
    keys: effect::keys(),
    answers: answer::answers(),
    legs: passage::legs(),
    pools: passage::pools(),
    credentials: credential::credentials(),
    shared: coalesce::shared(),
    caches: cache::caches(),
    messages: messages::messages(),
    sessions: session::sessions(),
});

impl Scope {
    /// All scopes, in the order of reports.
    pub const ALL: [Scope; 14] = [
        Scope::Run,
        Scope::Client,
        Scope::Edge,
        Scope::Service,
        Scope::Effect,
        Scope::Keys,
        Scope::Answers,
        Scope::Phases,
        Scope::Pool,
        Scope::Credential,
        Scope::Coalesce,
        Scope::Cache,
        Scope::Messages,
        Scope::Sessions,
    ];

    /// The word used in files.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Scope::Run => "run",
            Scope::Client => "client",
            Scope::Edge => "edge",
            Scope::Service => "service",
            Scope::Effect => "effect",
            Scope::Keys => "keys",
            Scope::Answers => "answers",
            Scope::Phases => "phases",
            Scope::Pool => "pool",
            Scope::Credential => "credential",
            Scope::Coalesce => "coalesce",
            Scope::Cache => "cache",
            Scope::Messages => "messages",
            Scope::Sessions => "sessions",
        }
    }

    /// What is reported over the whole measured time.
    #[must_use]
    pub fn whole(self) -> Vec<Declared> {
        match self {
            Scope::Run => declared(&TABLES.whole_run),
            Scope::Client => declared(&TABLES.whole_client),
            Scope::Edge => declared(&TABLES.whole_edge),
            Scope::Service => declared(&TABLES.whole_service),
            Scope::Effect => declared(&TABLES.effect),
            Scope::Keys => declared(&TABLES.keys),
            Scope::Answers => declared(&TABLES.answers),
            Scope::Phases => declared(&TABLES.legs),
            Scope::Pool => declared(&TABLES.pools),
            Scope::Credential => declared(&TABLES.credentials),
            Scope::Coalesce => declared(&TABLES.shared),
            Scope::Cache => declared(&TABLES.caches),
            Scope::Messages => declared(&TABLES.messages),
            Scope::Sessions => declared(&TABLES.sessions),
        }
    }

    /// What is reported for each window.
    #[must_use]
    pub fn window(self) -> Vec<Declared> {
        match self {
            Scope::Run => declared(&TABLES.window_run),
            Scope::Client => declared(&TABLES.window_client),
            Scope::Edge => declared(&TABLES.window_edge),
            Scope::Service => declared(&TABLES.window_service),
            Scope::Effect => declared(&TABLES.effect),
            Scope::Keys => declared(&TABLES.keys),
            Scope::Answers => declared(&TABLES.answers),
            Scope::Phases => declared(&TABLES.legs),
            Scope::Pool => declared(&TABLES.pools),
            Scope::Credential => declared(&TABLES.credentials),
            Scope::Coalesce => declared(&TABLES.shared),
            Scope::Cache => declared(&TABLES.caches),
            Scope::Messages => declared(&TABLES.messages),
            Scope::Sessions => declared(&TABLES.sessions),
        }
    }
}

fn declared<C: 'static>(columns: &'static [Column<C>]) -> Vec<Declared> {
    let declare = |c: &'static Column<C>| Declared {
        name: &c.name,
        unit: c.unit,
        meaning: &c.meaning,
    };
    columns.iter().map(declare).collect()
}

fn read<C: 'static>(columns: &[Column<C>], from: &C) -> Vec<Option<f64>> {
    columns.iter().map(|column| column.get(from)).collect()
}

/// Everything a scenario is reported on, in order.
#[must_use]
pub fn subjects(scenario: &Scenario) -> Vec<Subject> {
    let subject = |scope| move |(index, name)| Subject { scope, index, name };
    let clients = scenario.clients.iter().map(|c| c.name.clone()).enumerate();
    let edges = scenario
        .edges
        .iter()
        .map(|e| wording::edge(scenario, e))
        .enumerate();
    let services = scenario.services.iter().map(|s| s.name.clone()).enumerate();
    let used = || scenario.effects.iter();
    let named = |effect: &Effect| {
        let service = &scenario.services[effect.service as usize].name;
        format!("{service}.{}", effect.name)
    };
    let effects = used().flat_map(|used| &used.effects).map(named).enumerate();
    let guarded = scenario.fallbacks.iter().flat_map(|used| &used.edges);
    let arrow = |&edge: &u32| wording::edge(scenario, &scenario.edges[edge as usize]);
    let answers = guarded.map(&arrow).enumerate();
    let stores = used().flat_map(|used| &used.stores);
    let stores = stores.map(|store| store.name.clone()).enumerate();
    let staged = scenario.passages.iter();
    let legs = staged.clone().flat_map(|ways| &ways.edges).map(arrow);
    let pools = staged.flat_map(|ways| &ways.pools);
    let pools = pools.map(|place| wording::pool(scenario, place));
    let keepers = scenario
        .credentials
        .iter()
        .flat_map(|c| 0..c.refreshes.len());
    let keepers = keepers.map(|index| scenario.keeper_name(index));
    let shared = scenario.coalescing.iter().flat_map(|c| 0..c.wanted.len());
    let shared = shared.map(|index| scenario.shared_name(index));
    let caches = scenario.caches.iter().flat_map(|c| 0..c.all.len());
    let caches = caches.map(|index| scenario.cache_name(index));
    let queues = sim::scenario::messages::queues(&scenario.services);
    let queues = queues.map(|service| scenario.services[service as usize].name.clone());
    let held = scenario.sessions.iter().flat_map(|used| &used.services);
    let held = held.map(|&service| scenario.services[service as usize].name.clone());
    std::iter::once((0, "all".to_string()))
        .map(subject(Scope::Run))
        .chain(clients.map(subject(Scope::Client)))
        .chain(edges.map(subject(Scope::Edge)))
        .chain(services.map(subject(Scope::Service)))
        .chain(effects.map(subject(Scope::Effect)))
        .chain(stores.map(subject(Scope::Keys)))
        .chain(answers.map(subject(Scope::Answers)))
        .chain(legs.enumerate().map(subject(Scope::Phases)))
        .chain(pools.enumerate().map(subject(Scope::Pool)))
        .chain(keepers.enumerate().map(subject(Scope::Credential)))
        .chain(shared.enumerate().map(subject(Scope::Coalesce)))
        .chain(caches.enumerate().map(subject(Scope::Cache)))
        .chain(queues.enumerate().map(subject(Scope::Messages)))
        .chain(held.enumerate().map(subject(Scope::Sessions)))
        .collect()
}

/// The edges that clients call on: where logical calls are counted. Calls made instead of others are left out.
#[must_use]
pub fn top_edges(scenario: &Scenario) -> Vec<usize> {
    let edges = 0..scenario.edges.len();
    edges.filter(|&edge| scenario.is_top(edge)).collect()
}

/// The edges that one client calls on.
#[must_use]
pub fn client_edges(scenario: &Scenario, client: usize) -> Vec<usize> {
    let own = |edge: &usize| scenario.edges[*edge].caller == Caller::Client(client as u32);
    top_edges(scenario).into_iter().filter(own).collect()
}

/// The figures of `subject` over the whole measured time, in the order of [`Scope::whole`].
#[must_use]
pub fn whole(scenario: &Scenario, outcome: &Outcome, subject: &Subject) -> Vec<Option<f64>> {
    let index = subject.index;
    match subject.scope {
        Scope::Run => read(&TABLES.whole_run, &WholeRun::of(scenario, outcome)),
        Scope::Client => {
            let client = WholeClient {
                calls: WholeCalls::of(outcome, &client_edges(scenario, index)),
                count: outcome.drained.clients[index].clone(),
            };
            read(&TABLES.whole_client, &client)
        }
        Scope::Edge => read(&TABLES.whole_edge, &WholeCalls::of(outcome, &[index])),
        Scope::Service => {
            let top = top_calls(scenario, &outcome.drained.edges);
            read(
                &TABLES.whole_service,
                &WholeService::of(outcome, index, top),
            )
        }
        Scope::Effect => read(&TABLES.effect, &outcome.drained.effects[index]),
        Scope::Keys => read(&TABLES.keys, &outcome.drained.keys[index]),
        Scope::Answers => read(&TABLES.answers, &outcome.drained.answers[index]),
        Scope::Phases => read(&TABLES.legs, &outcome.drained.passages[index]),
        Scope::Pool => read(&TABLES.pools, &outcome.drained.pools[index]),
        Scope::Credential => read(&TABLES.credentials, &outcome.drained.credentials[index]),
        Scope::Coalesce => read(&TABLES.shared, &outcome.drained.shared[index]),
        Scope::Cache => read(&TABLES.caches, &outcome.drained.caches[index]),
        Scope::Messages => read(&TABLES.messages, &outcome.drained.messages[index]),
        Scope::Sessions => read(&TABLES.sessions, &outcome.totals.sessions[index]),
    }
}

/// The figures of `subject` in `window`, in the order of [`Scope::window`].
#[must_use]
pub fn in_window(scenario: &Scenario, window: &Window, subject: &Subject) -> Vec<Option<f64>> {
    let index = subject.index;
    match subject.scope {
        Scope::Run => read(
            &TABLES.window_run,
            &WindowCalls::of(window, &top_edges(scenario)),
        ),
        Scope::Client => {
            let client = WindowClient {
                calls: WindowCalls::of(window, &client_edges(scenario, index)),
                count: window.counts.clients[index].clone(),
            };
            read(&TABLES.window_client, &client)
        }
        Scope::Edge => read(&TABLES.window_edge, &WindowCalls::of(window, &[index])),
        Scope::Service => {
            let top = top_calls(scenario, &window.counts.edges);
            read(
                &TABLES.window_service,
                &WindowService::of(window, index, top),
            )
        }
        Scope::Effect => read(&TABLES.effect, &window.counts.effects[index]),
        Scope::Keys => read(&TABLES.keys, &window.counts.keys[index]),
        Scope::Answers => read(&TABLES.answers, &window.counts.answers[index]),
        Scope::Phases => read(&TABLES.legs, &window.counts.passages[index]),
        Scope::Pool => read(&TABLES.pools, &window.counts.pools[index]),
        Scope::Credential => read(&TABLES.credentials, &window.counts.credentials[index]),
        Scope::Coalesce => read(&TABLES.shared, &window.counts.shared[index]),
        Scope::Cache => read(&TABLES.caches, &window.counts.caches[index]),
        Scope::Messages => read(&TABLES.messages, &window.counts.messages[index]),
        Scope::Sessions => read(&TABLES.sessions, &window.counts.sessions[index]),
    }
}

/// Logical calls begun by clients.
#[must_use]
pub fn top_calls(scenario: &Scenario, edges: &[sim::metrics::EdgeCount]) -> u64 {
    top_edges(scenario)
        .iter()
        .map(|&edge| edges[edge].calls)
        .sum()
}

/// The service where most attempts arrive; the last one written, if there are several. None without
/// services.
#[must_use]
pub fn busiest_service(scenario: &Scenario, outcomes: &[Outcome]) -> Option<usize> {
    (0..scenario.services.len()).max_by_key(|&service| -> u64 {
        let arrived = outcomes.iter().map(|o| o.drained.services[service].arrived);
        arrived.sum()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_unique_say_their_unit_and_have_a_meaning() {
        for scope in Scope::ALL {
            for columns in [scope.whole(), scope.window()] {
                for (i, column) in columns.iter().enumerate() {
                    let name = column.name;
                    assert!(
                        name.ends_with(column.unit.suffix()),
                        "{name} is in {}",
                        column.unit.name()
                    );
                    assert!(column.meaning.ends_with('.'), "{name}: {}", column.meaning);
                    let twins = columns[..i].iter().filter(|c| c.name == name).count();
                    assert_eq!(twins, 0, "{name} twice in {}", scope.name());
                }
            }
        }
    }

    #[test]
    fn a_name_means_one_thing_in_all_scopes() {
        for columns in [Scope::whole, Scope::window] {
            let all: Vec<Declared> = Scope::ALL.into_iter().flat_map(columns).collect();
            for column in &all {
                let other = all.iter().find(|c| c.name == column.name && *c != column);
                assert_eq!(other, None, "means something else than {column:?}");
            }
        }
    }
}
