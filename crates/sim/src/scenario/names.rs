//! Every name that can be referred to.

use super::context::Context;
use super::effects::{Effect, Effects, Rules};
use super::file::ScenarioFile;
use super::messages;
use super::model::{Caller, Link, Scenario};
use super::tree::At;
use super::written::{Entry, check_name, mend};

/// The policy that does nothing, which always exists.
pub(super) const NO_POLICY: &str = "none";
/// The link that is taken where nothing else is said.
pub(super) const DEFAULT_LINK: &str = "default";

/// Names by index in the scenario.
#[derive(Debug, Default)]
pub(crate) struct Names {
    pub(crate) clients: Vec<String>,
    pub(crate) services: Vec<ServiceNames>,
    pub(crate) policies: Vec<String>,
    pub(crate) links: Vec<String>,
    pub(crate) credentials: Vec<String>,
    /// Known once programs have been compiled.
    pub(crate) effects: Vec<Effect>,
    /// Services that remember idempotency keys, likewise.
    pub(crate) keys: Vec<u32>,
    /// Whether any call has a fallback, likewise.
    pub(crate) fallbacks: bool,
    /// Whether any link has phases or connections, and whether any keeps these.
    pub(crate) ways: bool,
    pub(crate) pools: bool,
    /// Whether any calls may share one, known once programs have been compiled.
    pub(crate) shares: bool,
    /// Services with a cache, once for each, and whether all replicas share it; likewise.
    pub(crate) caches: Vec<(u32, bool)>,
    /// Services that sessions are held to, likewise.
    pub(crate) sessions: Vec<u32>,
    /// Services that keep messages, likewise.
    pub(crate) queues: Vec<u32>,
}

/// A service and what it offers.
#[derive(Debug)]
pub(crate) struct ServiceNames {
    pub(crate) name: String,
    /// `None`: the service could not be read.
    pub(crate) operations: Option<Vec<String>>,
}

impl Names {
    /// Those of a scenario that has been read.
    pub(crate) fn of(scenario: &Scenario) -> Names {
        let services = scenario.services.iter().map(|service| ServiceNames {
            name: service.name.clone(),
            operations: Some(service.operations.iter().map(|o| o.name.clone()).collect()),
        });
        Names {
            clients: scenario.clients.iter().map(|c| c.name.clone()).collect(),
            services: services.collect(),
            policies: scenario.policies.iter().map(|p| p.name.clone()).collect(),
            links: scenario.links.iter().map(|l| l.name.clone()).collect(),
            credentials: (scenario.credentials.iter())
                .flat_map(|used| used.all.iter().map(|c| c.name.clone()))
                .collect(),
            fallbacks: scenario.fallbacks.is_some(),
            ways: scenario.links.iter().any(|link| link.passage.is_some()),
            shares: scenario.coalescing.is_some(),
            caches: (scenario.caches.iter())
                .flat_map(|used| used.names())
                .collect(),
            pools: scenario.links.iter().any(Link::keeps_connections),
            sessions: (scenario.sessions.iter())
                .flat_map(|used| used.services.clone())
                .collect(),
            queues: messages::queues(&scenario.services).collect(),
            ..Names::default()
        }
        .with(scenario.effects.as_deref())
    }

    /// With what is known of effects.
    pub(crate) fn with(mut self, effects: Option<&Effects>) -> Names {
        let Some(effects) = effects else { return self };
        self.effects = effects.effects.clone();
        let remembers = |rules: &Vec<Rules>| rules.iter().any(|rules| rules.store.is_some());
        let services = (0..).zip(&effects.rules);
        self.keys = services
            .filter(|(_, rules)| remembers(rules))
            .map(|(service, _)| service)
            .collect();
        self
    }

    /// The link that calls of `caller` to `service` take unless they name one.
    pub(crate) fn link_between(&self, caller: Caller, service: u32) -> u32 {
        let caller = match caller {
            Caller::Client(index) => &self.clients[index as usize],
            Caller::Service(index) => &self.services[index as usize].name,
        };
        let arrow = format!("{caller} -> {}", self.services[service as usize].name);
        self.links
            .iter()
            .position(|link| *link == arrow)
            .unwrap_or(0) as u32
    }
}

/// Collects all names, so that each part can refer to the others whatever their order.
pub(super) fn collect(file: &ScenarioFile, context: &mut Context<'_>) {
    let clients = file.clients.0.as_ref().map_or(&[][..], |table| &table.0);
    let services = file.services.0.as_ref().map_or(&[][..], |table| &table.0);
    check(clients, context);
    check(services, context);
    check(&file.policies.0, context);
    context.names.clients = clients
        .iter()
        .map(|entry| entry.name.value.clone())
        .collect();
    context.names.services = services
        .iter()
        .map(|entry| ServiceNames {
            name: entry.name.value.clone(),
            operations: entry
                .value
                .as_ref()
                .map(|service| service.operation_names()),
        })
        .collect();
    for service in services {
        if let Some(client) = clients.iter().find(|c| c.name.value == service.name.value) {
            let name = &service.name.value;
            let message = format!("`{name}` is a client already; callers need different names");
            context.report(service.name.at.max(client.name.at), message);
        }
    }
    context.names.policies = vec![NO_POLICY.into()];
    for entry in &file.policies.0 {
        if entry.name.value == NO_POLICY {
            let message = "`none` is the policy that does nothing; choose another name";
            context.report(entry.name.at, message);
            continue;
        }
        context.names.policies.push(entry.name.value.clone());
    }
    check(&file.credentials.0, context);
    let credentials = file.credentials.0.iter();
    context.names.credentials = credentials.map(|entry| entry.name.value.clone()).collect();
    context.names.links = vec![DEFAULT_LINK.into()];
    for entry in &file.links.0 {
        let link = of_link(&entry.name);
        match link.split_once(" -> ") {
            Some(ends) => check_ends(ends, &entry.name, context),
            None => check_name(&entry.name, &mut context.problems),
        }
        if link != DEFAULT_LINK {
            context.names.links.push(link);
        }
    }
}

fn check<T>(entries: &[Entry<T>], context: &mut Context<'_>) {
    for entry in entries {
        check_name(&entry.name, &mut context.problems);
    }
}

/// A link's name; one that is an arrow, with one space on each side of it.
pub(super) fn of_link(name: &At<String>) -> String {
    match name.value.split_once("->") {
        Some((from, to)) => format!("{} -> {}", from.trim(), to.trim()),
        None => name.value.clone(),
    }
}

fn check_ends((from, to): (&str, &str), name: &At<String>, context: &mut Context<'_>) {
    let services = || {
        context
            .names
            .services
            .iter()
            .map(|service| service.name.as_str())
    };
    let callers = || {
        context
            .names
            .clients
            .iter()
            .map(String::as_str)
            .chain(services())
    };
    let wrong = if !callers().any(|caller| caller == from) {
        Some(("caller", from, mend(from, callers())))
    } else if !services().any(|service| service == to) {
        Some(("service", to, mend(to, services())))
    } else {
        None
    };
    if let Some((what, end, hint)) = wrong {
        context.report(name.at, format!("no {what} is called `{end}`: {hint}"));
    }
}
