//! Whether those who keep addresses and those who change them go together.

use super::context::Context;
use super::file::ScenarioFile;
use super::model::{Link, Service};
use super::names::of_link;
use crate::step::Compiled;

/// Reports addresses that are kept where that changes nothing, and changed where nobody looks.
pub(super) fn check(
    file: &ScenarioFile,
    links: &[Link],
    services: &[Service],
    compiled: &Compiled,
    context: &mut Context<'_>,
) {
    let pooled = |link: u32| {
        links
            .get(link as usize)
            .is_some_and(Link::keeps_connections)
    };
    let moves = |service: u32| {
        let behaviour = services.get(service as usize).map(|s| &s.behaviour);
        behaviour.is_some_and(|b| b.as_ref().is_some_and(|b| b.restart.new_address))
    };
    // Which services are called over which links.
    let sites = compiled.sites.iter();
    let ways: Vec<(u32, u32)> = sites
        .map(|site| (site.link, compiled.edges[site.edge as usize].service))
        .collect();
    for entry in &file.links.0 {
        let Some(link) = &entry.value else { continue };
        let Some(ttl) = link.pool.as_ref().and_then(|pool| pool.dns_ttl.as_ref()) else {
            continue;
        };
        let name = of_link(&entry.name);
        let index = context.names.links.iter().position(|known| *known == name);
        let takes_time = link
            .phases
            .as_ref()
            .is_some_and(|phases| phases.dns.is_some());
        let over_it =
            |&&(way, service): &&(u32, u32)| Some(way as usize) == index && moves(service);
        if !takes_time && !ways.iter().any(|way| over_it(&way)) {
            let message = format!(
                "links.{name}.pool.dns_ttl: does nothing: asking takes no time (`phases.dns`), and no service behind \
                 it has a `new_address`"
            );
            context.report(ttl.at, message);
        }
    }
    let written = file.services.0.as_ref().map_or(&[][..], |table| &table.0);
    for (service, entry) in (0u32..).zip(written) {
        let restart = entry.value.as_ref().and_then(|s| s.restart.as_ref());
        let Some(restart) = restart.filter(|restart| restart.new_address.value) else {
            continue;
        };
        if !ways.iter().any(|&(link, to)| to == service && pooled(link)) {
            let message = format!(
                "services.{}.restart.new_address: nobody looks at addresses: no call comes over a link with a `pool`",
                entry.name.value
            );
            context.report(restart.new_address.at, message);
        }
    }
}
