//! What is reported about the ways of attempts that have more to them than a link, and about connections. Only worlds
//! that have such ways have these subjects.

use sim::metrics::{Leg, PassageCount, PoolCount};

use super::column::{Column, Unit};

/// What is reported about the attempts of one edge over links with phases or connections, over any time.
#[must_use]
pub fn legs() -> Vec<Column<PassageCount>> {
    let mut columns = vec![
        Column::count(
            "ways_begun",
            "Attempts that set out on a way with phases or connections.",
            |c: &PassageCount| c.begun,
        ),
        Column::new(
            "way_mean_ms",
            Unit::Milliseconds,
            "Mean time of those attempts from setting out to their end, of those that ended.",
            |c: &PassageCount| mean_ms(c.total_ns, c.ended),
        ),
    ];
    for leg in Leg::ALL {
        let i = leg as usize;
        let name = leg.name();
        columns.push(Column::new(
            format!("{name}_mean_ms"),
            Unit::Milliseconds,
            format!(
                "Mean time that an attempt spent {}, of those that came to it.",
                doing(leg)
            ),
            move |c: &PassageCount| mean_ms(c.leg_ns[i], c.entered[i]),
        ));
        columns.push(Column::count(
            format!("{name}_entered"),
            format!("Attempts that came to {}.", doing(leg)),
            move |c: &PassageCount| c.entered[i],
        ));
        columns.push(Column::count(
            format!("{name}_failed"),
            format!(
                "Attempts that failed or were given up while {}.",
                doing(leg)
            ),
            move |c: &PassageCount| c.failed[i],
        ));
    }
    columns
}

/// What an attempt does in a leg, after "while".
fn doing(leg: Leg) -> &'static str {
    match leg {
        Leg::Credential => "waiting for a credential",
        Leg::Pool => "waiting for a connection",
        Leg::Dns => "resolving the name",
        Leg::Connect => "opening a connection",
        Leg::Tls => "shaking hands",
        Leg::Send => "writing the request",
        Leg::Server => "waiting for the answer, over the link and in the service",
        Leg::Receive => "reading the answer",
        Leg::Decode => "understanding the answer",
    }
}

fn mean_ms(sum: u128, of: u64) -> Option<f64> {
    (of > 0).then(|| sum as f64 / 1e6 / of as f64)
}

type Get = fn(&PoolCount) -> u64;

/// What is reported about the connections of one caller to one service over one link, over any time.
#[must_use]
pub fn pools() -> Vec<Column<PoolCount>> {
    let counts: [(&str, &str, Get); 16] = [
        (
            "connections_wanted",
            "Attempts that wanted a connection.",
            |c| c.wanted,
        ),
        (
            "connections_reused",
            "Of those, the ones that got one that was open already, at once or after a wait.",
            |c| c.reused,
        ),
        (
            "connections_opened",
            "Connections opened, warm ones included.",
            |c| c.opened,
        ),
        (
            "connections_warm",
            "Of those, connections that were there when their process began.",
            |c| c.warm,
        ),
        ("handshakes", "Handshakes begun.", |c| c.begun),
        (
            "handshakes_failed",
            "Of those, the ones that failed or were given up.",
            |c| c.failed,
        ),
        (
            "pool_waits",
            "Attempts that had to wait for a connection.",
            |c| c.waited,
        ),
        (
            "pool_timeouts",
            "Of those, the ones that had waited as long as they may.",
            |c| c.timed_out,
        ),
        (
            "connection_resets",
            "Requests that met a connection which the service had closed.",
            |c| c.resets,
        ),
        (
            "connections_closed_idle",
            "Connections closed after they had been idle too long for their caller.",
            |c| c.closed_idle,
        ),
        (
            "connections_closed_by_server",
            "Idle connections that the service had closed, and their caller noticed.",
            |c| c.closed_by_server,
        ),
        (
            "connections_closed_old",
            "Connections closed since they had reached their greatest age.",
            |c| c.closed_old,
        ),
        (
            "connections_closed_for_room",
            "Idle connections closed to make room for one to another replica.",
            |c| c.closed_for_room,
        ),
        (
            "connections_closed_lost",
            "Connections that went with a process at one of their ends.",
            |c| c.closed_lost,
        ),
        (
            "connections_closed_broken",
            "Connections that broke under a request or an answer.",
            |c| c.closed_broken,
        ),
        (
            "connections_closed_given_up",
            "Connections closed since the attempt on them was given up.",
            |c| c.closed_given_up,
        ),
    ];
    let mut columns: Vec<Column<PoolCount>> = counts
        .into_iter()
        .map(|(name, meaning, get)| Column::count(name, meaning, get))
        .collect();
    let over_time = |get: fn(&PoolCount) -> u128| {
        move |c: &PoolCount| (c.time_ns > 0).then(|| get(c) as f64 / c.time_ns as f64)
    };
    columns.extend([
        Column::new(
            "pool_wait_mean_ms",
            Unit::Milliseconds,
            "Mean wait for a connection of those that had to wait.",
            |c: &PoolCount| mean_ms(c.wait_ns, c.waited),
        ),
        Column::new(
            "connections_open_mean",
            Unit::Mean,
            "Connections that were open, mean over time, all processes.",
            over_time(|c| c.open_ns),
        ),
        Column::new(
            "connections_in_use_mean",
            Unit::Mean,
            "Connections in use or being opened, mean over time, all processes.",
            over_time(|c| c.in_use_ns),
        ),
        Column::new(
            "pool_waiting_mean",
            Unit::Mean,
            "Attempts waiting for a connection, mean over time, all processes.",
            over_time(|c| c.waiting_ns),
        ),
    ]);
    columns
}
