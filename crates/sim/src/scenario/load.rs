//! From text to a scenario that can run, or to everything that is wrong with it.

use std::sync::Arc;

use seawall::Span;
use serde_json::{Value as Json, json};

use super::addresses;
use super::circle::circles;
use super::context::Context;
use super::file::{ScenarioFile, change_link, credential, trouble};
use super::keys;
use super::messages;
use super::model::{Caller, Client, Edge, Fault, Link, Policy, Run, Scenario, Service};
use super::names::{self, DEFAULT_LINK, NO_POLICY};
use super::overrides::{self, Override};
use super::passage::Passages;
use super::policy::settings::{self, Settings};
use super::policy::{self, extends};
use super::problem::Problems;
use super::sessions;
use super::tree::{At, Format, Node, Value, read};
use super::written::{Defs, Entry, Table, Tried, Written};
use crate::expect::{self, Expectation};
use crate::law::Law;
use crate::step::Compiler;

/// A scenario as text.
#[derive(Clone, Copy, Debug)]
pub struct Source<'t> {
    /// What problems call it, usually the file name.
    pub name: &'t str,
    /// All of it.
    pub text: &'t str,
    /// What it is written in.
    pub format: Format,
}

/// Engines of all callers together; about a gigabyte of them.
const ENGINES_MAX: u64 = 1_000_000;

/// The version of the language that is read here.
pub const VERSION: u64 = 1;

/// The JSON Schema of scenario files, with a description, the unit and the default of every key.
#[must_use]
pub fn schema() -> Json {
    let mut defs = Defs::default();
    let Json::Object(root) = ScenarioFile::schema(&mut defs) else {
        return Json::Null;
    };
    let mut defs = defs.into_json();
    let file = &mut defs["Scenario"];
    file["properties"]["$schema"] = json!({
        "description": "Where editors find this schema; not read.",
        "type": "string",
    });
    file["patternProperties"] = json!({
        "^x-": { "description": "Not read: a place for YAML anchors that others refer to." },
    });
    let mut schema = json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "retrystorm scenario",
    });
    for (key, value) in root {
        schema[key] = value;
    }
    schema["$defs"] = defs;
    schema
}

/// A text in any of the formats as plain JSON, for files that are not scenarios but look like them.
///
/// # Errors
/// What is wrong with its syntax.
pub fn to_json(source: &Source<'_>) -> Result<Json, Problems> {
    let mut problems = Problems::of(source.name);
    match read(source.text, source.format, 0, &mut problems) {
        Some(root) if problems.is_empty() => Ok(root.to_json()),
        _ => Err(problems.sorted()),
    }
}

/// Takes off what is for editors and anchors only.
pub(crate) fn drop_unread(root: &mut Node) {
    if let Value::Map(entries) = &mut root.value {
        entries.retain(|(key, _)| key.value != "$schema" && !key.value.starts_with("x-"));
    }
}

/// The tree of a scenario, with overrides applied and policies merged; and what is wrong with it so far.
pub(super) fn tree(
    source: &Source<'_>,
    overrides: &[Override],
) -> Result<(Node, Problems), Problems> {
    let mut problems = Problems::of(source.name);
    let Some(mut root) = read(source.text, source.format, 0, &mut problems) else {
        return Err(problems.sorted());
    };
    drop_unread(&mut root);
    if !overrides.is_empty() {
        overrides::apply(&mut root, overrides, &schema(), &mut problems);
    }
    extends::resolve(&mut root, &mut problems);
    Ok((root, problems))
}

/// Every value in effect of each policy that is written, and where it comes from.
///
/// # Errors
/// What is wrong with the text or the overrides. What is wrong with a policy is left to [`load`].
pub fn settings(source: &Source<'_>, overrides: &[Override]) -> Result<Vec<Settings>, Problems> {
    let (root, problems) = tree(source, overrides)?;
    let written = match root.get("policies").map(|policies| &policies.value) {
        Some(Value::Map(written)) => written.as_slice(),
        _ => &[],
    };
    let of = |(name, node): &(At<String>, Node)| settings::of(&name.value, node, &problems);
    Ok(written.iter().map(of).collect())
}

/// Reads a scenario with `overrides` put in place of what it says. `fetch` gives the text of a file that the scenario names, relative to it.
///
/// # Errors
/// Everything that is wrong with it, at once.
pub fn load(
    source: &Source<'_>,
    overrides: &[Override],
    fetch: &mut dyn FnMut(&str) -> Result<String, String>,
) -> Result<Scenario, Problems> {
    let (root, mut problems) = tree(source, overrides)?;
    let Some(file) = ScenarioFile::decode(&root, &mut problems) else {
        return Err(problems.sorted());
    };
    let mut context = Context::new(problems, fetch);
    match mean(&file, &root, &mut context) {
        Some(scenario) if context.problems.is_empty() => Ok(scenario),
        _ => Err(context.problems.sorted()),
    }
}

/// What is written means this; `None` only after a problem has been reported.
fn mean(file: &ScenarioFile, root: &Node, context: &mut Context<'_>) -> Option<Scenario> {
    if let Some(version) = &file.version.0
        && version.value != VERSION
    {
        let got = version.value;
        let message = format!("version: this program reads version {VERSION}, got {got}");
        context.report(version.at, message);
    }
    names::collect(file, context);
    let run = file
        .run
        .0
        .as_ref()
        .map(|run| context.within("run", |context| run.mean(context)));
    let duration = run.as_ref().map(|run| run.duration);
    let policies = policies(file, root, context);
    let mut links = links(file, context);
    let mut compiler = Compiler::default();
    let clients = each(
        "clients",
        entries(&file.clients),
        context,
        |index, client, context| client.mean(index, &mut compiler, context),
    );
    let mut services = each(
        "services",
        entries(&file.services),
        context,
        |index, service, context| service.mean(index, &mut compiler, context),
    );
    let mut credentials = credential::credentials(file, &links, &mut compiler, context);
    let (caches, places) = compiler.caches();
    context.names.caches = caches.names().collect();
    if let Some((index, message)) = caches.too_large(&services) {
        context.report(places[index], message);
    }
    let mut faults = faults(file, duration, &clients, &services, &links, context);
    change_link::prepare(&mut links, &faults);
    context.names = std::mem::take(&mut context.names).with(Some(compiler.effects()));
    context.names.fallbacks = compiler.fallbacks().is_used();
    context.names.shares = compiler.shares();
    context.names.ways = links.iter().any(|link| link.passage.is_some());
    context.names.pools = links.iter().any(Link::keeps_connections);
    trouble::prepare(&mut services, &mut faults);
    context.names.sessions = compiler.sessions();
    context.names.queues = messages::queues(&services).collect();
    let expect = promises(file, run.as_ref(), context);
    let mut compiled = compiler.finish();
    compiled.effects.faults = faults.iter().any(Fault::runs_the_program);
    keys::check(&compiled, context);
    addresses::check(file, &links, &services, &compiled, context);
    sessions::check(file, &services, &compiled, context);
    messages::check(&links, &services, &compiled, context);
    engines(file, &compiled.edges, &clients, &services, context);
    // Only what all parts agree on can be followed.
    if context.problems.is_empty() {
        for circle in circles(
            &services,
            &compiled.edges,
            &compiled.sites,
            &compiled.code,
            &credentials,
        ) {
            let message = format!(
                "{}: these calls go in a circle and would never end",
                circle.path
            );
            context.report(compiled.places[circle.site as usize], message);
        }
    }
    let (effects, mut fallbacks) = (compiled.effects, compiled.fallbacks);
    let (coalescing, caches) = (compiled.coalescing, compiled.caches);
    fallbacks.complete(&compiled.sites);
    credentials.complete(&compiled.sites);
    let mut sessions = compiled.sessions;
    sessions.complete(compiled.sites.len(), &mut services);
    let passages = context.problems.is_empty().then(|| {
        let (sites, edges) = (&compiled.sites, &compiled.edges);
        Passages::of(sites, edges, &links, &services, &mut compiled.code)
    });
    Some(Scenario {
        title: file.title.clone().unwrap_or_default(),
        description: file.description.clone().unwrap_or_default(),
        run: run?,
        clients,
        services,
        policies,
        links,
        edges: compiled.edges,
        sites: compiled.sites,
        code: compiled.code,
        faults,
        expect,
        effects: effects.is_used().then(|| Arc::new(effects)),
        fallbacks: fallbacks.is_used().then(|| Arc::new(fallbacks)),
        passages: passages.flatten().map(Arc::new),
        coalescing: (!coalescing.wanted.is_empty()).then(|| Arc::new(coalescing)),
        caches: (!caches.all.is_empty()).then(|| Arc::new(caches)),
        sessions: (!sessions.all.is_empty()).then(|| Arc::new(sessions)),
        credentials: (!credentials.all.is_empty()).then(|| Arc::new(credentials)),
    })
}

/// The entries of a block, none if it could not be read.
fn entries<T>(table: &Tried<Table<T>>) -> &[Entry<T>] {
    table.0.as_ref().map_or(&[], |table| &table.0)
}

/// The meaning of each entry that could be read, with its index.
fn each<T, M>(
    block: &str,
    entries: &[Entry<T>],
    context: &mut Context<'_>,
    mut mean: impl FnMut(u32, &T, &mut Context<'_>) -> M,
) -> Vec<M> {
    let mut meant = Vec::with_capacity(entries.len());
    for (index, entry) in (0..).zip(entries) {
        if let Some(value) = &entry.value {
            let path = format!("{block}.{}", entry.name.value);
            meant.push(context.within(&path, |context| mean(index, value, context)));
        }
    }
    meant
}

fn policies(file: &ScenarioFile, root: &Node, context: &mut Context<'_>) -> Vec<Policy> {
    let none = Policy {
        name: NO_POLICY.into(),
        policy: seawall::Policy::default(),
    };
    let written = each(
        "policies",
        &file.policies.0,
        context,
        |index, policy, context| {
            let name = file.policies.0[index as usize].name.value.clone();
            let node = root
                .get("policies")
                .and_then(|policies| policies.get(&name));
            Policy {
                policy: policy::mean(policy, node.unwrap_or(root), context),
                name,
            }
        },
    );
    std::iter::once(none).chain(written).collect()
}

fn links(file: &ScenarioFile, context: &mut Context<'_>) -> Vec<Link> {
    let mut links = vec![Link {
        name: DEFAULT_LINK.into(),
        delay: Law::Constant(Span::ZERO),
        lose_request: 0.0,
        lose_response: 0.0,
        passage: None,
    }];
    let written = each("links", &file.links.0, context, |index, link, context| {
        link.mean(&names::of_link(&file.links.0[index as usize].name), context)
    });
    for link in written {
        match link.name == DEFAULT_LINK {
            true => links[0] = link,
            false => links.push(link),
        }
    }
    links
}

fn faults(
    file: &ScenarioFile,
    run: Option<Span>,
    clients: &[Client],
    services: &[Service],
    links: &[Link],
    context: &mut Context<'_>,
) -> Vec<Fault> {
    let mut faults = Vec::with_capacity(file.faults.len());
    for (index, fault) in file.faults.iter().enumerate() {
        let fault = context.within(&format!("faults.{index}"), |context| {
            let in_vain = fault.in_vain(clients, services);
            if let Some((at, message)) = in_vain.or_else(|| fault.shakes_no_hands(links)) {
                context.report(at, message);
            }
            fault.mean(run, links, context)
        });
        faults.extend(fault);
    }
    faults
}

/// Each process of a caller has an engine for each of its edges; more of them than memory has room for
/// is a slip of the pen.
fn engines(
    file: &ScenarioFile,
    edges: &[Edge],
    clients: &[Client],
    services: &[Service],
    context: &mut Context<'_>,
) {
    let (client_names, service_names) = (entries(&file.clients), entries(&file.services));
    let callers = (0..)
        .zip(clients)
        .map(|(i, c)| {
            (
                Caller::Client(i),
                "instances",
                u64::from(c.instances),
                &c.name,
            )
        })
        .chain((0..).zip(services).map(|(i, s)| {
            (
                Caller::Service(i),
                "replicas",
                u64::from(s.replicas),
                &s.name,
            )
        }));
    let mut all: u64 = 0;
    for (caller, key, processes, name) in callers {
        let edges = edges.iter().filter(|edge| edge.caller == caller).count() as u64;
        // A service that calls nobody has no engine, but its replicas take room as well.
        all = all.saturating_add(processes.saturating_mul(edges.max(1)));
        if all > ENGINES_MAX {
            let message = format!(
                "{key}: {processes} with {edges} edges each make more than {ENGINES_MAX} processes in all"
            );
            let written = client_names.iter().map(|entry| &entry.name);
            let mut written = written.chain(service_names.iter().map(|entry| &entry.name));
            if let Some(written) = written.find(|written| written.value == *name) {
                context.report(written.at, message);
            }
            return;
        }
    }
}

fn promises(file: &ScenarioFile, run: Option<&Run>, context: &mut Context<'_>) -> Vec<Expectation> {
    let mut promises = Vec::with_capacity(file.expect.len());
    for promise in &file.expect {
        match expect::parse(&promise.value, &context.names, run) {
            Ok(expectation) => promises.push(expectation),
            Err(message) => context.report(
                promise.at,
                format!("expect: {:?}: {message}", promise.value),
            ),
        }
    }
    promises
}
