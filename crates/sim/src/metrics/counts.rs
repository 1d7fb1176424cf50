//! Everything counted between two instants, place by place.

use super::answer::AnswerCount;
use super::cache::CacheCount;
use super::coalesce::CoalesceCount;
use super::credential::CredentialCount;
use super::effect::{EffectCount, KeyCount};
use super::messages::MessageCount;
use super::passage::{PassageCount, PoolCount};
use super::session::SessionCount;
use super::traffic::{ClientCount, EdgeCount, ServiceCount};
use crate::scenario::messages::queues;
use crate::scenario::model::Scenario;

/// Everything counted between two instants.
#[derive(Clone, Debug, Default)]
pub struct Counts {
    /// By index in `Scenario::clients`.
    pub clients: Vec<ClientCount>,
    /// By index in `Scenario::services`.
    pub services: Vec<ServiceCount>,
    /// By index in `Scenario::edges`.
    pub edges: Vec<EdgeCount>,
    /// By index in [`Effects::effects`](crate::scenario::effects::Effects::effects).
    pub effects: Vec<EffectCount>,
    /// By index in [`Effects::stores`](crate::scenario::effects::Effects::stores).
    pub keys: Vec<KeyCount>,
    /// By index in [`Fallbacks::edges`](crate::scenario::fallbacks::Fallbacks::edges).
    pub answers: Vec<AnswerCount>,
    /// By index in [`Passages::edges`](crate::scenario::passage::Passages::edges).
    pub passages: Vec<PassageCount>,
    /// By index in [`Passages::pools`](crate::scenario::passage::Passages::pools).
    pub pools: Vec<PoolCount>,
    /// By index in [`Credentials::refreshes`](crate::scenario::credential::Credentials::refreshes).
    pub credentials: Vec<CredentialCount>,
    /// By index in [`Coalescing::wanted`](crate::scenario::coalesce::Coalescing::wanted).
    pub shared: Vec<CoalesceCount>,
    /// By index in [`Caches::all`](crate::scenario::cache::Caches::all).
    pub caches: Vec<CacheCount>,
    /// By place among the services that keep messages.
    pub messages: Vec<MessageCount>,
    /// By index in [`Sessions::services`](crate::scenario::sessions::Sessions::services).
    pub sessions: Vec<SessionCount>,
}

impl Counts {
    /// Nothing counted yet.
    #[must_use]
    pub fn zero(scenario: &Scenario) -> Self {
        Counts {
            clients: vec![ClientCount::default(); scenario.clients.len()],
            services: vec![ServiceCount::default(); scenario.services.len()],
            edges: vec![EdgeCount::default(); scenario.edges.len()],
            effects: vec![
                EffectCount::default();
                scenario.effects.as_ref().map_or(0, |e| e.effects.len())
            ],
            keys: vec![
                KeyCount::default();
                scenario.effects.as_ref().map_or(0, |e| e.stores.len())
            ],
            answers: vec![
                AnswerCount::default();
                scenario.fallbacks.as_ref().map_or(0, |f| f.edges.len())
            ],
            passages: vec![
                PassageCount::default();
                scenario.passages.as_ref().map_or(0, |p| p.edges.len())
            ],
            pools: vec![
                PoolCount::default();
                scenario.passages.as_ref().map_or(0, |p| p.pools.len())
            ],
            credentials: vec![
                CredentialCount::default();
                scenario
                    .credentials
                    .as_ref()
                    .map_or(0, |c| c.refreshes.len())
            ],
            shared: vec![
                CoalesceCount::default();
                scenario.coalescing.as_ref().map_or(0, |c| c.wanted.len())
            ],
            caches: vec![
                CacheCount::default();
                scenario.caches.as_ref().map_or(0, |c| c.all.len())
            ],
            sessions: vec![
                SessionCount::default();
                scenario.sessions.as_ref().map_or(0, |s| s.services.len())
            ],
            messages: vec![MessageCount::default(); queues(&scenario.services).count()],
        }
    }

    /// Adds `other`, count by count.
    pub fn add(&mut self, other: &Self) {
        fn each<T>(sums: &mut [T], counts: &[T], add: fn(&mut T, &T)) {
            sums.iter_mut()
                .zip(counts)
                .for_each(|(sum, count)| add(sum, count));
        }
        each(&mut self.clients, &other.clients, ClientCount::add);
        each(&mut self.services, &other.services, ServiceCount::add);
        each(&mut self.edges, &other.edges, EdgeCount::add);
        each(&mut self.effects, &other.effects, EffectCount::add);
        each(&mut self.keys, &other.keys, KeyCount::add);
        each(&mut self.answers, &other.answers, AnswerCount::add);
        each(&mut self.passages, &other.passages, PassageCount::add);
        each(&mut self.pools, &other.pools, PoolCount::add);
        each(
            &mut self.credentials,
            &other.credentials,
            CredentialCount::add,
        );
        each(&mut self.shared, &other.shared, CoalesceCount::add);
        each(&mut self.caches, &other.caches, CacheCount::add);
        each(&mut self.messages, &other.messages, MessageCount::add);
        each(&mut self.sessions, &other.sessions, SessionCount::add);
    }

    /// What was counted since `earlier`.
    #[must_use]
    pub fn since(&self, earlier: &Self) -> Self {
        fn each<T>(now: &[T], then: &[T], since: fn(&T, &T) -> T) -> Vec<T> {
            now.iter()
                .zip(then)
                .map(|(now, then)| since(now, then))
                .collect()
        }
        Counts {
            clients: each(&self.clients, &earlier.clients, ClientCount::since),
            services: each(&self.services, &earlier.services, ServiceCount::since),
            edges: each(&self.edges, &earlier.edges, EdgeCount::since),
            effects: each(&self.effects, &earlier.effects, EffectCount::since),
            keys: each(&self.keys, &earlier.keys, KeyCount::since),
            answers: each(&self.answers, &earlier.answers, AnswerCount::since),
            passages: each(&self.passages, &earlier.passages, PassageCount::since),
            pools: each(&self.pools, &earlier.pools, PoolCount::since),
            credentials: each(
                &self.credentials,
                &earlier.credentials,
                CredentialCount::since,
            ),
            shared: each(&self.shared, &earlier.shared, CoalesceCount::since),
            caches: each(&self.caches, &earlier.caches, CacheCount::since),
            sessions: each(&self.sessions, &earlier.sessions, SessionCount::since),
            messages: each(&self.messages, &earlier.messages, MessageCount::since),
        }
    }
}
