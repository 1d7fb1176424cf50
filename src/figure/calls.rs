//! What is reported about calls: of all clients, of one client, of one edge.

use hdrhistogram::Histogram;
use sim::metrics::{EdgeCount, EdgeLatency, Outcome, Window, WindowLatency};

use super::column::{Column, Unit};
use super::failures::failures;

/// Calls over some edges and some time.
#[derive(Clone, Debug, Default)]
pub struct Calls {
    /// Summed over the edges. Over a whole run it goes on to the end of the drain, when calls begun in
    /// time have ended.
    pub count: EdgeCount,
    /// The same without the drain: what rates per second are of.
    pub timed: EdgeCount,
    /// Length of the time that `timed` is over, in seconds.
    pub seconds: f64,
    /// Share of calling processes whose breaker was open (and half-open); none without breakers.
    pub breakers: Option<(f64, f64)>,
}

/// Calls over some edges and the whole measured time.
#[derive(Clone, Debug)]
pub struct WholeCalls {
    /// What was counted.
    pub calls: Calls,
    /// How long calls took, however they ended.
    pub all: Histogram<u64>,
    /// How long calls took that ended well.
    pub ok: Histogram<u64>,
    /// How long attempts took.
    pub attempts: Histogram<u64>,
    /// Calls still open at the end of the drain.
    pub open: u64,
}

/// Calls over some edges and one window.
#[derive(Clone, Debug)]
pub struct WindowCalls {
    /// What was counted.
    pub calls: Calls,
    /// Known for a single edge; percentiles of several cannot be told from theirs.
    pub latency: Option<WindowLatency>,
    /// Calls in flight at the end of the window.
    pub in_flight: u64,
}

impl WholeCalls {
    /// Of `edges` in `outcome`.
    #[must_use]
    pub fn of(outcome: &Outcome, edges: &[usize]) -> WholeCalls {
        let measured = outcome
            .windows
            .iter()
            .filter(|w| w.start >= outcome.measured_from);
        let (mut open, mut half_open, mut all) = (0.0, 0.0, 0.0);
        for gauge in measured.flat_map(|w| edges.iter().map(|&e| w.edges[e])) {
            open += f64::from(gauge.breakers_open);
            half_open += f64::from(gauge.breakers_half_open);
            all += f64::from(gauge.breakers);
        }
        let calls = Calls {
            count: sum(edges.iter().map(|&e| &outcome.drained.edges[e])),
            timed: sum(edges.iter().map(|&e| &outcome.totals.edges[e])),
            seconds: outcome
                .measured_to
                .since(outcome.measured_from)
                .as_secs_f64(),
            breakers: (all > 0.0).then(|| (open / all, half_open / all)),
        };
        let merged = |pick: fn(&EdgeLatency) -> &Histogram<u64>| {
            merge(edges.iter().map(|&e| pick(&outcome.latency[e])))
        };
        WholeCalls {
            calls,
            all: merged(|l| &l.calls),
            ok: merged(|l| &l.ok),
            attempts: merged(|l| &l.attempts),
            open: edges.iter().map(|&e| outcome.open[e]).sum(),
        }
    }
}

impl WindowCalls {
    /// Of `edges` in `window`.
    #[must_use]
    pub fn of(window: &Window, edges: &[usize]) -> WindowCalls {
        let gauges = || edges.iter().map(|&e| window.edges[e]);
        let breakers: u32 = gauges().map(|g| g.breakers).sum();
        let share = |n: u32| f64::from(n) / f64::from(breakers);
        let count = sum(edges.iter().map(|&e| &window.counts.edges[e]));
        let calls = Calls {
            timed: count.clone(),
            count,
            seconds: window.end.since(window.start).as_secs_f64(),
            breakers: (breakers > 0).then(|| {
                let open = gauges().map(|g| g.breakers_open).sum();
                (
                    share(open),
                    share(gauges().map(|g| g.breakers_half_open).sum()),
                )
            }),
        };
        WindowCalls {
            calls,
            latency: if let [edge] = edges {
                window.latency[*edge]
            } else {
                None
            },
            in_flight: gauges().map(|g| g.in_flight).sum(),
        }
    }
}

fn sum<'a>(counts: impl Iterator<Item = &'a EdgeCount>) -> EdgeCount {
    let mut sum = EdgeCount::default();
    counts.for_each(|count| sum.add(count));
    sum
}

/// The histograms as one, to three significant digits.
#[must_use]
pub fn merge<'a>(histograms: impl Iterator<Item = &'a Histogram<u64>>) -> Histogram<u64> {
    let mut all = Histogram::new(3).expect("three digits are a valid precision");
    for histogram in histograms {
        all.add(histogram).expect("it resizes itself");
    }
    all
}

fn ratio(part: u64, whole: u64) -> Option<f64> {
    (whole > 0).then(|| part as f64 / whole as f64)
}

/// What is counted, over any time.
fn counted() -> Vec<Column<Calls>> {
    use Unit::{Factor, Milliseconds, PerSecond, Share};
    let per_second = |n: fn(&EdgeCount) -> u64| {
        move |c: &Calls| (c.seconds > 0.0).then(|| n(&c.timed) as f64 / c.seconds)
    };
    let ended = |c: &Calls| c.count.ok + c.count.failed_calls();
    let mut columns = vec![
        Column::count("calls", "Logical calls begun.", |c: &Calls| c.count.calls),
        Column::new(
            "calls_per_s",
            PerSecond,
            "Logical calls begun: the load that is offered.",
            per_second(|c| c.calls),
        ),
        Column::count(
            "calls_ok",
            "Calls that ended well, in time.",
            |c: &Calls| c.count.ok,
        ),
        Column::count(
            "calls_failed",
            "Calls given up, for any reason.",
            |c: &Calls| c.count.failed_calls(),
        ),
        Column::new(
            "success_rate",
            Share,
            "Of the calls that ended, those that ended well.",
            move |c: &Calls| ratio(c.count.ok, ended(c)),
        ),
        Column::new(
            "goodput_per_s",
            PerSecond,
            "Calls answered well and in time.",
            per_second(|c| c.ok),
        ),
        Column::new(
            "call_mean_ms",
            Milliseconds,
            "Mean time from begin to end of a call, however it ended.",
            move |c: &Calls| {
                (ended(c) > 0).then(|| c.count.latency_ns as f64 / ended(c) as f64 / 1e6)
            },
        ),
        Column::count(
            "attempts",
            "Attempts sent, first ones included.",
            |c: &Calls| c.count.attempts,
        ),
        Column::new(
            "attempts_per_s",
            PerSecond,
            "Attempts sent, first ones included.",
            per_second(|c| c.attempts),
        ),
        Column::new(
            "attempts_per_call",
            Factor,
            "Attempts sent ÷ calls begun.",
            |c: &Calls| ratio(c.count.attempts, c.count.calls),
        ),
        Column::count(
            "retries",
            "Attempts that were not the first of their call.",
            |c: &Calls| c.count.retries,
        ),
        Column::new(
            "retry_share",
            Share,
            "Of the attempts sent, those that were not the first of their call.",
            |c: &Calls| ratio(c.count.retries, c.count.attempts),
        ),
        Column::count(
            "hedges",
            "Of the retries, attempts of hedged calls: sent before it was known how others end.",
            |c: &Calls| c.count.hedges,
        ),
        Column::count(
            "refusals_retried",
            "Tries that the calling side refused, and that were tried again.",
            |c: &Calls| c.count.refusals_retried,
        ),
        Column::count(
            "breaker_openings",
            "Times a breaker went to open.",
            |c: &Calls| c.count.openings,
        ),
        Column::count(
            "beyond_cap",
            "Calls and attempts whose key had no entry of its own under the policy's `scope`, once for each part.",
            |c: &Calls| c.count.beyond_cap,
        ),
        Column::count(
            "attempts_failed",
            "Attempts that failed, timed-out ones included.",
            |c: &Calls| c.count.attempt_failed.iter().sum(),
        ),
        Column::new(
            "breaker_open_share",
            Share,
            "Of the breakers of calling processes, those that were open at the end of the window (whole run: mean over windows).",
            |c: &Calls| c.breakers.map(|(open, _)| open),
        ),
        Column::new(
            "breaker_half_open_share",
            Share,
            "The same for half-open breakers.",
            |c: &Calls| c.breakers.map(|(_, half_open)| half_open),
        ),
    ];
    let failures = failures().into_iter();
    columns.extend(failures.map(|c| c.within(|c: &Calls| &c.count)));
    columns
}

/// Percentiles that reports give: name and quantile.
pub const PERCENTILES: [(&str, &str, f64); 7] = [
    ("p50", "Median", 0.5),
    ("p75", "75th percentile", 0.75),
    ("p90", "90th percentile", 0.9),
    ("p95", "95th percentile", 0.95),
    ("p99", "99th percentile", 0.99),
    ("p999", "99.9th percentile", 0.999),
    ("p9999", "99.99th percentile", 0.9999),
];

fn ms(ns: u64) -> f64 {
    ns as f64 / 1e6
}

/// A percentile of a histogram in ms; no data when it is empty.
fn percentile(histogram: &Histogram<u64>, quantile: f64) -> Option<f64> {
    (!histogram.is_empty()).then(|| ms(histogram.value_at_quantile(quantile)))
}

type Pick = fn(&WholeCalls) -> &Histogram<u64>;

/// What is reported about calls over the whole measured time.
#[must_use]
pub fn whole() -> Vec<Column<WholeCalls>> {
    use Unit::Milliseconds;
    let mut columns: Vec<Column<WholeCalls>> = counted()
        .into_iter()
        .map(|c| c.within(|w: &WholeCalls| &w.calls))
        .collect();
    columns.push(Column::count(
        "calls_open",
        "Calls still open when the time to drain was over.",
        |w: &WholeCalls| w.open,
    ));
    let subjects: [(&str, &str, Pick); 3] = [
        (
            "call",
            "of the duration of calls, however they ended",
            |w| &w.all,
        ),
        ("ok_call", "of the duration of calls that ended well", |w| {
            &w.ok
        }),
        (
            "attempt",
            "of the duration of attempts, answered or given up",
            |w| &w.attempts,
        ),
    ];
    for (name, of_what, pick) in subjects {
        for (percentile_name, ordinal, quantile) in PERCENTILES {
            let meaning = format!("{ordinal} {of_what}.");
            let get = move |w: &WholeCalls| percentile(pick(w), quantile);
            columns.push(Column::new(
                format!("{name}_{percentile_name}_ms"),
                Milliseconds,
                meaning,
                get,
            ));
        }
        let get = move |w: &WholeCalls| (!pick(w).is_empty()).then(|| ms(pick(w).max()));
        columns.push(Column::new(
            format!("{name}_max_ms"),
            Milliseconds,
            format!("Largest {of_what}."),
            get,
        ));
    }
    columns
}

/// What is reported about calls in one window.
#[must_use]
pub fn window() -> Vec<Column<WindowCalls>> {
    use Unit::Milliseconds;
    let mut columns: Vec<Column<WindowCalls>> = counted()
        .into_iter()
        .map(|c| c.within(|w: &WindowCalls| &w.calls))
        .collect();
    let single = "of the calls that ended in the window; empty where the row covers several edges.";
    let latency = |pick: fn(&WindowLatency) -> u64| {
        move |w: &WindowCalls| w.latency.as_ref().map(|l| ms(pick(l)))
    };
    columns.extend([
        Column::new(
            "call_p50_ms",
            Milliseconds,
            format!("Median duration {single}"),
            latency(|l| l.p50),
        ),
        Column::new(
            "call_p99_ms",
            Milliseconds,
            format!("99th percentile of the duration {single}"),
            latency(|l| l.p99),
        ),
        Column::new(
            "call_max_ms",
            Milliseconds,
            format!("Largest duration {single}"),
            latency(|l| l.max),
        ),
        Column::count(
            "calls_in_flight",
            "Calls in flight at the end of the window.",
            |w: &WindowCalls| w.in_flight,
        ),
    ]);
    columns
}
