//! Calls that go in a circle: they would never end.

use super::credential::Credentials;
use super::model::{CallSite, Edge, Service};
use crate::step::{Code, Instr};

/// A circle of calls among operations of services.
#[derive(Debug, PartialEq)]
pub(super) struct Circle {
    /// The call site that closes it.
    pub(super) site: u32,
    /// `a -> b -> a`, with operations where a service has several.
    pub(super) path: String,
}

/// The circles that following calls from each operation in turn runs into, each told once.
pub(super) fn circles(
    services: &[Service],
    edges: &[Edge],
    sites: &[CallSite],
    code: &Code,
    credentials: &Credentials,
) -> Vec<Circle> {
    // Operations of all services in one row, so that one index names each.
    let firsts: Vec<usize> = services
        .iter()
        .scan(0, |next, service| {
            let first = *next;
            *next += service.operations.len();
            Some(first)
        })
        .collect();
    let operations = services.iter().flat_map(|service| {
        service
            .operations
            .iter()
            .map(move |operation| (service, operation))
    });
    let operations: Vec<_> = operations.collect();
    let calls: Vec<Vec<(u32, usize)>> = operations
        .iter()
        .map(|(_, operation)| {
            let call = |instr: &Instr| match *instr {
                Instr::Call(site) => {
                    let CallSite {
                        edge, operation, ..
                    } = sites[site as usize];
                    let service = edges[edge as usize].service as usize;
                    Some((site, firsts[service] + operation as usize))
                }
                _ => None,
            };
            // A call that needs a token may make another one first.
            let token = |site: u32| {
                let refresh = credentials.sites.get(site as usize).copied().flatten()?;
                let site = credentials.refreshes[refresh as usize].site;
                call(&Instr::Call(site))
            };
            let made = code.reachable(operation.entry).filter_map(call);
            made.flat_map(|made| [token(made.0), Some(made)])
                .flatten()
                .collect()
        })
        .collect();
    let name = |index: usize| {
        let (service, operation) = operations[index];
        match service.operations.len() {
            1 => service.name.clone(),
            _ => format!("{}.{}", service.name, operation.name),
        }
    };

    let mut circles = Vec::new();
    let mut done = vec![false; operations.len()];
    for start in 0..operations.len() {
        // The operations on the way down, each with how many of its calls were followed.
        let mut way: Vec<(usize, usize)> = vec![(start, 0)];
        while let Some((operation, followed)) = way.last_mut() {
            let (at, call) = (*operation, calls[*operation].get(*followed).copied());
            *followed += 1;
            match call {
                Some((site, to)) => match way.iter().position(|(passed, _)| *passed == to) {
                    Some(from) => {
                        let mut path: Vec<String> = way[from..]
                            .iter()
                            .map(|(passed, _)| name(*passed))
                            .collect();
                        path.push(name(to));
                        circles.push(Circle {
                            site,
                            path: path.join(" -> "),
                        });
                    }
                    None if !done[to] => way.push((to, 0)),
                    None => {}
                },
                None => {
                    done[at] = true;
                    way.pop();
                }
            }
        }
    }
    circles
}
