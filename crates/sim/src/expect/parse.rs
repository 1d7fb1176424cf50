//! From text to a promise.

use seawall::{FailureKind, Span, Stopped, Time};

use super::{Comparison, Expectation, Kind, Measure, Metric, Of, Target, Unit};
use crate::metrics::{Leg, Source};
use crate::scenario::model::{Caller, Run, Scenario};
use crate::scenario::names::Names;
use crate::scenario::written::{mend, nearest, parse_percent, parse_rate, parse_span, parse_times};
use crate::verdict::Verdict;

/// Reads a promise.
///
/// # Errors
/// What is wrong with it, in a sentence.
pub(crate) fn parse(text: &str, names: &Names, run: Option<&Run>) -> Result<Expectation, String> {
    let (left, comparison, right) = Comparison::SIGNS
        .iter()
        // A target may have an arrow in it.
        .find_map(|(sign, comparison)| {
            let at = text
                .rfind(sign)
                .filter(|&at| !text[..at].ends_with('-') || *sign != ">")?;
            Some((&text[..at], *comparison, &text[at + sign.len()..]))
        })
        .ok_or_else(|| {
            "no comparison: write metric(target) <= value, or <, >, >=, ==, !=".to_owned()
        })?;
    let (value, from, to) = clauses(right.trim())?;
    if value.is_empty() {
        return Err("a value is missing".into());
    }
    if let Some(turned) = left.trim_end().strip_suffix('=') {
        let sign = text[turned.len()..].trim_start();
        let sign: String = sign.chars().take_while(|c| "=<>".contains(*c)).collect();
        return Err(format!(
            "`{sign}` is no comparison: write <=, >=, <, >, == or !="
        ));
    }
    let measure = measure_of(left, from, to, names, run)?;
    Ok(Expectation {
        text: text.trim().into(),
        value: value_of(measure.metric.unit(), value)?,
        measure,
        comparison,
    })
}

/// Reads what a sweep measures: `metric(target) [from T] [to T]`.
///
/// # Errors
/// What is wrong with it, in a sentence.
pub fn measure(text: &str, scenario: &Scenario) -> Result<Measure, String> {
    let (left, from, to) = clauses(text.trim())?;
    measure_of(left, from, to, &Names::of(scenario), Some(&scenario.run))
}

fn measure_of(
    left: &str,
    from: Option<&str>,
    to: Option<&str>,
    names: &Names,
    run: Option<&Run>,
) -> Result<Measure, String> {
    let (name, arguments) = call(left.trim())?;
    let metric = Metric::ALL
        .iter()
        .copied()
        .find(|metric| metric.name() == name)
        .ok_or_else(|| {
            let known = Metric::ALL.iter().map(|metric| metric.name());
            // They are too many to read where one of them is likely to be meant.
            let hint = match nearest(name, known.clone()) {
                Some(near) => {
                    format!("did you mean `{near}`? All are listed in docs/promises.md")
                }
                None => mend(name, known),
            };
            format!("no metric is called `{name}`: {hint}")
        })?;
    let (target, kind) = match arguments.as_slice() {
        [] => (target(metric, None, names)?, None),
        [one] => (target(metric, Some(one), names)?, None),
        [one, kind] => {
            let target = target(metric, Some(one), names)?;
            (target, Some(kind_of(metric, target, kind, names)?))
        }
        [_, _, third, ..] => return Err(format!("`{third}` is one name too many")),
    };
    let time = |text: Option<&str>| {
        text.map(|text| parse_span(text).map(|span| Time::ZERO.after(span)))
            .transpose()
    };
    if matches!(metric, Metric::Answers | Metric::DataAge) && !names.fallbacks {
        return Err("no call has a `fallback`".into());
    }
    if metric.of_pools() && !names.pools {
        return Err("no link has a `pool`".into());
    }
    if metric == Metric::Coalesced && !names.shares {
        return Err("no call says `coalesce`".into());
    }
    if let (true, Target::Service(service)) = (metric.of_caches(), target)
        && !names.caches.iter().any(|(of, _)| *of == service)
    {
        let name = &names.services[service as usize].name;
        return Err(format!("`{name}` has no `cache` step"));
    }
    if let (true, Target::Service(service)) = (metric.of_sessions(), target)
        && !names.sessions.contains(&service)
    {
        let name = &names.services[service as usize].name;
        return Err(format!("nobody holds a `session` with `{name}`"));
    }
    if let (true, Target::Service(service)) = (metric.of_messages(), target)
        && !names.queues.contains(&service)
    {
        let name = &names.services[service as usize].name;
        return Err(format!("`{name}` has no `messages`"));
    }
    if metric.of_credentials() && names.credentials.is_empty() {
        return Err("there are no `credentials`".into());
    }
    if metric.of_ways() && !names.ways {
        return Err("no link has `phases`, a `pool` or a `credential`".into());
    }
    let (from, to) = (time(from)?, time(to)?);
    if from.is_some() || to.is_some() {
        windows_apply(metric, target)?;
        if let Some(run) = run {
            some_window_between(from, to, run)?;
        }
    }
    Ok(Measure {
        metric,
        target,
        kind,
        from,
        to,
    })
}

/// `name(a, b)` or `name`.
fn call(text: &str) -> Result<(&str, Vec<&str>), String> {
    let Some((name, rest)) = text.split_once('(') else {
        return Ok((text, Vec::new()));
    };
    let inside = rest
        .trim_end()
        .strip_suffix(')')
        .ok_or("the `(` is not closed".to_owned())?;
    Ok((name.trim(), inside.split(',').map(str::trim).collect()))
}

/// The value, and what follows `from` and `to`.
fn clauses(text: &str) -> Result<(&str, Option<&str>, Option<&str>), String> {
    let (text, to) = match text.split_once(" to ") {
        Some((text, to)) => (text, Some(to.trim())),
        None => (text, None),
    };
    let (value, from) = match text.split_once(" from ") {
        Some((value, from)) => (value, Some(from.trim())),
        None => (text, None),
    };
    Ok((value.trim(), from, to))
}

/// Reads a value in the unit of `metric`, as a promise writes it: seconds, shares of 1, per second.
///
/// # Errors
/// What is wrong with it, in a sentence.
pub fn amount(metric: Metric, text: &str) -> Result<f64, String> {
    // A difference between counts need not be whole.
    match metric.unit() {
        Unit::Count => value_of(Unit::Factor, text),
        unit => value_of(unit, text),
    }
}

fn value_of(unit: Unit, text: &str) -> Result<f64, String> {
    let number = || text.parse().ok().filter(|value: &f64| value.is_finite());
    let value = match unit {
        Unit::Count => number().filter(|value| value.fract() == 0.0),
        Unit::Share => parse_percent(text).or_else(number),
        Unit::Rate => Some(parse_rate(text)?),
        Unit::Time => Some(parse_span(text)?.as_secs_f64()),
        Unit::Factor => parse_times(text).or_else(number),
        Unit::Verdict => {
            let index = Verdict::NAMES.iter().position(|name| *name == text);
            index.map(|index| index as f64)
        }
    };
    value.ok_or_else(|| format!("expected {}, got `{text}`", unit.example()))
}

fn target(metric: Metric, name: Option<&str>, names: &Names) -> Result<Target, String> {
    let clients = || names.clients.iter().map(String::as_str);
    let services = || names.services.iter().map(|service| service.name.as_str());
    let client = |name: &str| clients().position(|known| known == name).map(|i| i as u32);
    let service = |name: &str| services().position(|known| known == name).map(|i| i as u32);
    let Some(name) = name else {
        return match metric.of() {
            Of::Effects => some_effect(None, names).map(|()| Target::Run),
            Of::Run | Of::Calls | Of::Programs => Ok(Target::Run),
            Of::Service | Of::CallsOrService | Of::Keys => {
                Err(format!("say of what: {}(name)", metric.name()))
            }
        };
    };
    let of = metric.of();
    if of == Of::Run {
        return Err(format!(
            "`{}` is of the whole run; leave out ({name})",
            metric.name()
        ));
    }
    if let Some((from, to)) = name.split_once("->") {
        let (from, to) = (from.trim(), to.trim());
        if matches!(of, Of::Service | Of::Effects | Of::Keys | Of::Programs) {
            let what = match of {
                Of::Programs => "client",
                _ => "service",
            };
            return Err(format!(
                "`{}` is of a {what}, not of an edge",
                metric.name()
            ));
        }
        let caller = client(from)
            .map(Caller::Client)
            .or(service(from).map(Caller::Service));
        let caller = caller.ok_or_else(|| unknown("caller", from, clients().chain(services())))?;
        let to = service(to).ok_or_else(|| unknown("service", to, services()))?;
        return Ok(Target::Edge(caller, to));
    }
    let as_client = client(name)
        .map(Target::Client)
        .filter(|_| matches!(of, Of::Calls | Of::CallsOrService | Of::Programs));
    let as_service = service(name)
        .map(Target::Service)
        .filter(|_| !matches!(of, Of::Calls | Of::Programs));
    as_client
        .or(as_service)
        .ok_or_else(|| match of {
            Of::Calls | Of::Programs => unknown("client", name, clients()),
            Of::Service | Of::Run | Of::Effects | Of::Keys => unknown("service", name, services()),
            Of::CallsOrService => unknown("client or service", name, clients().chain(services())),
        })
        .and_then(|target| match (of, target) {
            (Of::Effects, Target::Service(service)) => {
                some_effect(Some(service), names).map(|()| target)
            }
            (Of::Keys, Target::Service(service)) if !names.keys.contains(&service) => {
                Err(format!("`{name}` has no `idempotency`"))
            }
            _ => Ok(target),
        })
}

/// There must be something to count.
fn some_effect(service: Option<u32>, names: &Names) -> Result<(), String> {
    let mut effects = names.effects.iter();
    if effects.any(|effect| service.is_none_or(|service| effect.service == service)) {
        return Ok(());
    }
    let whose = service.map_or("no service", |s| names.services[s as usize].name.as_str());
    let has = if service.is_some() {
        "has no"
    } else {
        "has an"
    };
    Err(format!("{whose} {has} `effect` step"))
}

fn unknown<'n>(what: &str, name: &str, known: impl Iterator<Item = &'n str> + Clone) -> String {
    format!("no {what} is called `{name}`: {}", mend(name, known))
}

fn kind_of(metric: Metric, target: Target, name: &str, names: &Names) -> Result<Kind, String> {
    if let (Of::Effects, Target::Service(service)) = (metric.of(), target) {
        let own = || {
            names
                .effects
                .iter()
                .filter(|effect| effect.service == service)
        };
        let index = names.effects.iter();
        let mut index = index
            .zip(0..)
            .filter(|(e, _)| e.service == service && e.name == name);
        return index
            .next()
            .map(|(_, index)| Kind::Effect(index))
            .ok_or_else(|| unknown("effect", name, own().map(|effect| effect.name.as_str())));
    }
    let hint = match metric {
        Metric::Stopped => mend(name, Stopped::NAMES.into_iter()),
        Metric::Failures => mend(name, FailureKind::ALL.iter().map(|kind| kind.name())),
        Metric::Answers => mend(name, Source::ALL.into_iter().map(Source::name)),
        Metric::PhaseTime | Metric::PhaseFailures => {
            mend(name, Leg::ALL.into_iter().map(Leg::name))
        }
        _ => {
            return Err(format!(
                "`{}` has no kinds; leave out `{name}`",
                metric.name()
            ));
        }
    };
    Kind::named(metric, name).ok_or_else(|| format!("no kind is called `{name}`: {hint}"))
}

/// Not everything is measured window by window.
fn windows_apply(metric: Metric, target: Target) -> Result<(), String> {
    let durations = matches!(
        metric,
        Metric::Mean | Metric::P50 | Metric::P99 | Metric::Max
    );
    let name = metric.name();
    if metric.of() == Of::Run {
        return Err(format!(
            "`{name}` is of the whole run; leave out `from` and `to`"
        ));
    }
    if matches!(metric, Metric::Open | Metric::P90 | Metric::P999) {
        return Err(format!(
            "`{name}` is not measured window by window; leave out `from` and `to`"
        ));
    }
    if matches!(target, Target::Service(_)) && durations {
        let instead = "leave out `from` and `to`, or use its callers'";
        return Err(format!(
            "`{name}` of a service is not measured window by window; {instead}"
        ));
    }
    Ok(())
}

/// At least one whole window must lie between the two.
fn some_window_between(from: Option<Time>, to: Option<Time>, run: &Run) -> Result<(), String> {
    let end = Time::ZERO.after(run.duration);
    let from = from.unwrap_or_default();
    let to = to.unwrap_or(end).min(end);
    let window = run.window.0.max(1);
    let begin = from.0.div_ceil(window).saturating_mul(window);
    if Time(begin).after(Span(window)) <= to {
        return Ok(());
    }
    let (from, to) = (from.since(Time::ZERO), to.since(Time::ZERO));
    Err(format!(
        "no whole window ({}) lies between {from} and {to}",
        run.window
    ))
}
