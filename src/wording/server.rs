//! What a service does beyond workers behind a waiting room, in a few words.

use sim::scenario::model::{Discipline, ProbeKind, ServerLimit, Service, SharingRule, Signal};

use crate::number;

/// `a turn for each client, rate limit 40 /s per client, 2 to 20 replicas by workers held`; one entry each.
#[must_use]
pub fn server(service: &Service) -> Vec<String> {
    let mut words: Vec<String> = Vec::new();
    match service.queue.discipline {
        Discipline::Fifo => {}
        Discipline::Lifo => words.push("last come first".into()),
        Discipline::DeadlineDrop => words.push("drops what is too late".into()),
        Discipline::Siro => words.push("in random order".into()),
        Discipline::Priority => words.push("by priority".into()),
        Discipline::Fair => words.push("a turn for each client".into()),
        Discipline::AdaptiveLifo { above } => {
            words.push(format!("last come first above {above}"));
        }
    }
    let Some(more) = &service.behaviour else {
        return words;
    };
    if more.waiting.max_wait.is_some() {
        words.push("bounded waits".into());
    }
    if more.waiting.codel.is_some() {
        words.push("CoDel".into());
    }
    if let Some(sharing) = &more.sharing {
        let rule = match (sharing.rule, sharing.cores) {
            (SharingRule::Alike, None) => None,
            (SharingRule::Alike, Some(cores)) => Some(("shared", cores)),
            (SharingRule::LastFirst, cores) => Some(("last first", cores.unwrap_or(u32::MAX))),
            (SharingRule::MostImportant, cores) => {
                Some(("most important first", cores.unwrap_or(u32::MAX)))
            }
        };
        words.extend(rule.map(|(rule, cores)| format!("{cores} cores, {rule}")));
        words.extend(sharing.contention.map(|_| "contention".into()));
    }
    if let Some(rule) = &more.rate_limit {
        let rate = match rule.limit {
            ServerLimit::Gcra(gcra) => 1.0 / gcra.period.as_secs_f64(),
            ServerLimit::PerPeriod(limit) => {
                f64::from(limit.limit_for_period) / limit.limit_refresh_period.as_secs_f64()
            }
        };
        let whose = if rule.per_client { " per client" } else { "" };
        words.push(format!("rate limit {}{whose}", number::rate(rate)));
    }
    words.extend(more.memory.map(|_| "dies when its memory is full".into()));
    words.extend(more.pauses.as_ref().map(|_| "pauses".into()));
    words.extend(
        more.ejection
            .as_ref()
            .map(|_| "leaves out replicas that fail".into()),
    );
    for probe in &more.probes {
        let kind = match probe.kind {
            ProbeKind::Startup => "startup",
            ProbeKind::Liveness => "liveness",
            ProbeKind::Readiness => "readiness",
        };
        words.push(format!("{kind} probe"));
    }
    if let Some(scaling) = &more.scaling {
        let signal = match scaling.signal {
            Signal::Cpu => "cores at work",
            Signal::Workers => "workers held",
            Signal::Queue => "jobs waiting",
        };
        words.push(format!(
            "{} to {} replicas by {signal}",
            scaling.min, scaling.max
        ));
    }
    words
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample;

    #[test]
    fn an_ordinary_service_needs_no_words_and_others_few() {
        let mut service = sample::scenario().services.swap_remove(0);
        assert!(server(&service).is_empty());
        service.queue.discipline = Discipline::AdaptiveLifo { above: 5 };
        service.behaviour = Some(Box::default());
        assert_eq!(server(&service), ["last come first above 5"]);
    }
}
