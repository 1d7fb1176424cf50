//! Envoy's outlier detection: which hosts of a cluster are left out for a while.
//!
//! Sources: envoyproxy/envoy `source/common/upstream/outlier_detection_impl.cc`;
//! envoyproxy/data-plane-api@84e84367 `envoy/config/cluster/v3/outlier_detection.proto`. Ejection
//! times and refusals agree with a measurement of Envoy 1.40.0.
//!
//! Consecutive failures act at once; success rates and failure percentages are looked at when a driver
//! calls [`OutlierDetector::sweep`], every `interval`, over what was counted since the sweep before.

use alloc::vec;
use alloc::vec::Vec;

use crate::entropy::Entropy;
use crate::found::Found;
use crate::spec::SpecError;
use crate::time::{Span, Time};

/// `outlier_detection` of a cluster.
///
/// An ejection is refused when `100 * (ejected + 1) / hosts` is above `max_ejection_percent`: with the
/// default 10 % and fewer than ten hosts **nothing is ever ejected**. It lasts
/// `min(base * k, max) + jitter`; `k` goes up by one per ejection (while `base * k < max + base`) and down
/// by one at each sweep once the host has been back for an interval. A host comes back only at a sweep,
/// so the time is rounded up.
///
/// 4xx are successes. A response that is not 5xx clears both consecutive counters, a 500 only the
/// gateway one. The counter that fired is cleared even when the ejection was refused or is not
/// enforced, all of them when the host comes back.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Outlier {
    /// `interval` between sweeps; default 10 s.
    pub interval: Span,
    /// `base_ejection_time`; default 30 s.
    pub base_ejection_time: Span,
    /// `max_ejection_time`, at least the base; default 300 s or the base, whichever is longer.
    pub max_ejection_time: Span,
    /// `max_ejection_time_jitter`, whole milliseconds; default 0.
    pub max_ejection_time_jitter: Span,
    /// `max_ejection_percent`; default 10.
    pub max_ejection_percent: u32,
    /// `always_eject_one_host`; default false.
    pub always_eject_one_host: bool,
    /// `consecutive_5xx`; default 5.
    pub consecutive_5xx: u32,
    /// `enforcing_consecutive_5xx` in percent; default 100.
    pub enforcing_consecutive_5xx: u32,
    /// `consecutive_gateway_failure` (502, 503, 504); default 5.
    pub consecutive_gateway_failure: u32,
    /// `enforcing_consecutive_gateway_failure` in percent; default 0.
    pub enforcing_consecutive_gateway_failure: u32,
    /// `split_external_local_origin_errors`: count failures to get an answer apart from answers.
    /// Without it (the default) they count as 503, 504 or 500.
    pub split_local_origin: bool,
    /// `consecutive_local_origin_failure`; default 5.
    pub consecutive_local_origin_failure: u32,
    /// `enforcing_consecutive_local_origin_failure` in percent; default 100.
    pub enforcing_consecutive_local_origin_failure: u32,
    /// By success rate.
    pub success_rate: SuccessRate,
    /// By failure percentage.
    pub failure_percentage: FailurePercentage,
}

/// Ejects hosts whose success rate is strictly below `mean - factor * stdev` (of the population) over
/// the hosts with enough requests.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SuccessRate {
    /// `success_rate_minimum_hosts`; default 5.
    pub minimum_hosts: u32,
    /// `success_rate_request_volume` per host and interval; default 100.
    pub request_volume: u64,
    /// `success_rate_stdev_factor` in thousandths; default 1900.
    pub stdev_factor: u32,
    /// `enforcing_success_rate` in percent; default 100.
    pub enforcing: u32,
    /// `enforcing_local_origin_success_rate` in percent; default 100.
    pub enforcing_local_origin: u32,
}

/// Ejects hosts whose failures are at least `threshold` percent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FailurePercentage {
    /// `failure_percentage_minimum_hosts`; default 5.
    pub minimum_hosts: u32,
    /// `failure_percentage_request_volume` per host and interval; default 50.
    pub request_volume: u64,
    /// `failure_percentage_threshold` in percent; default 85.
    pub threshold: u32,
    /// `enforcing_failure_percentage` in percent; default 0.
    pub enforcing: u32,
    /// `enforcing_failure_percentage_local_origin` in percent; default 0.
    pub enforcing_local_origin: u32,
}

impl Default for Outlier {
    fn default() -> Self {
        Outlier {
            interval: Span::secs(10),
            base_ejection_time: Span::secs(30),
            max_ejection_time: Span::secs(300),
            max_ejection_time_jitter: Span::ZERO,
            max_ejection_percent: 10,
            always_eject_one_host: false,
            consecutive_5xx: 5,
            enforcing_consecutive_5xx: 100,
            consecutive_gateway_failure: 5,
            enforcing_consecutive_gateway_failure: 0,
            split_local_origin: false,
            consecutive_local_origin_failure: 5,
            enforcing_consecutive_local_origin_failure: 100,
            success_rate: SuccessRate {
                minimum_hosts: 5,
                request_volume: 100,
                stdev_factor: 1900,
                enforcing: 100,
                enforcing_local_origin: 100,
            },
            failure_percentage: FailurePercentage {
                minimum_hosts: 5,
                request_volume: 50,
                threshold: 85,
                enforcing: 0,
                enforcing_local_origin: 0,
            },
        }
    }
}

impl Outlier {
    /// Checks every field.
    ///
    /// # Errors
    /// All that is wrong.
    pub fn check(&self) -> Result<(), Vec<SpecError>> {
        let mut found = Found::default();
        found.span_above_zero("outlier.interval", self.interval);
        found.span_above_zero("outlier.base_ejection_time", self.base_ejection_time);
        found.require(
            self.max_ejection_time >= self.base_ejection_time,
            "outlier.max_ejection_time",
            "at least base_ejection_time",
            self.max_ejection_time,
        );
        for (field, percent) in [
            ("outlier.max_ejection_percent", self.max_ejection_percent),
            (
                "outlier.enforcing_consecutive_5xx",
                self.enforcing_consecutive_5xx,
            ),
            (
                "outlier.enforcing_consecutive_gateway_failure",
                self.enforcing_consecutive_gateway_failure,
            ),
            (
                "outlier.enforcing_consecutive_local_origin_failure",
                self.enforcing_consecutive_local_origin_failure,
            ),
            (
                "outlier.enforcing_success_rate",
                self.success_rate.enforcing,
            ),
            (
                "outlier.enforcing_local_origin_success_rate",
                self.success_rate.enforcing_local_origin,
            ),
            (
                "outlier.failure_percentage_threshold",
                self.failure_percentage.threshold,
            ),
            (
                "outlier.enforcing_failure_percentage",
                self.failure_percentage.enforcing,
            ),
            (
                "outlier.enforcing_failure_percentage_local_origin",
                self.failure_percentage.enforcing_local_origin,
            ),
        ] {
            found.require(percent <= 100, field, "0 to 100 percent", percent);
        }
        found.into_result()
    }
}

/// Why an attempt got no answer from its host, or that it got through to it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LocalOrigin {
    /// Connected, sent, and an answer came, whatever it says.
    Success,
    /// No answer in time; counts as 504 when not split.
    Timeout,
    /// No connection; counts as 503 when not split.
    ConnectFailed,
}

/// The running state of outlier detection for one cluster.
#[derive(Clone, Debug)]
pub struct OutlierDetector {
    spec: Outlier,
    hosts: Vec<Host>,
    ejected: usize,
    overflows: u64,
    success_rate_threshold: Option<f64>,
    // Hosts with enough requests, and their success rates; kept to not allocate at each sweep.
    by_rate: Vec<(usize, f64)>,
    by_percentage: Vec<(usize, f64)>,
}

#[derive(Clone, Debug, Default)]
struct Host {
    ejected_at: Option<Time>,
    back_since: Option<Time>,
    multiplier: u32,
    jitter: Span,
    consecutive_5xx: u32,
    consecutive_gateway_failure: u32,
    consecutive_local_origin_failure: u32,
    /// By origin.
    counts: [Counts; 2],
}

/// Answers since the last sweep, and between the last two.
#[derive(Clone, Copy, Debug, Default)]
struct Counts {
    total: u64,
    good: u64,
    before: (u64, u64),
}

#[derive(Clone, Copy)]
enum Origin {
    External = 0,
    Local = 1,
}

impl OutlierDetector {
    /// So many hosts, numbered from 0, none ejected.
    #[must_use]
    pub fn new(spec: &Outlier, hosts: usize) -> Self {
        OutlierDetector {
            spec: *spec,
            hosts: vec![Host::default(); hosts],
            ejected: 0,
            overflows: 0,
            success_rate_threshold: None,
            by_rate: Vec::with_capacity(hosts),
            by_percentage: Vec::with_capacity(hosts),
        }
    }

    /// A host answered with this HTTP status. Unknown hosts are ignored.
    pub fn response(&mut self, host: usize, code: u16, now: Time, entropy: &mut impl Entropy) {
        let Some(it) = self.hosts.get_mut(host) else {
            return;
        };
        let counts = &mut it.counts[Origin::External as usize];
        counts.total += 1;
        if !(500..600).contains(&code) {
            counts.good += 1;
            it.consecutive_5xx = 0;
            it.consecutive_gateway_failure = 0;
            return;
        }
        let mut gateway = false;
        if matches!(code, 502..=504) {
            it.consecutive_gateway_failure += 1;
            gateway = it.consecutive_gateway_failure == self.spec.consecutive_gateway_failure;
        } else {
            it.consecutive_gateway_failure = 0;
        }
        it.consecutive_5xx += 1;
        let any = it.consecutive_5xx == self.spec.consecutive_5xx;
        if gateway && it.ejected_at.is_none() {
            let enforcing = self.spec.enforcing_consecutive_gateway_failure;
            self.eject(host, enforcing, now, entropy);
            self.hosts[host].consecutive_gateway_failure = 0;
        }
        if any && self.hosts[host].ejected_at.is_none() {
            self.eject(host, self.spec.enforcing_consecutive_5xx, now, entropy);
            self.hosts[host].consecutive_5xx = 0;
        }
    }

    /// How far an attempt got that is not to be judged by a status.
    pub fn local_origin(
        &mut self,
        host: usize,
        outcome: LocalOrigin,
        now: Time,
        entropy: &mut impl Entropy,
    ) {
        if !self.spec.split_local_origin {
            let code = match outcome {
                LocalOrigin::Success => 200,
                LocalOrigin::Timeout => 504,
                LocalOrigin::ConnectFailed => 503,
            };
            return self.response(host, code, now, entropy);
        }
        let Some(it) = self.hosts.get_mut(host) else {
            return;
        };
        let counts = &mut it.counts[Origin::Local as usize];
        counts.total += 1;
        if outcome == LocalOrigin::Success {
            counts.good += 1;
            it.consecutive_local_origin_failure = 0;
            return;
        }
        it.consecutive_local_origin_failure += 1;
        if it.consecutive_local_origin_failure == self.spec.consecutive_local_origin_failure
            && it.ejected_at.is_none()
        {
            let enforcing = self.spec.enforcing_consecutive_local_origin_failure;
            self.eject(host, enforcing, now, entropy);
            self.hosts[host].consecutive_local_origin_failure = 0;
        }
    }

    /// The interval timer: hosts come back, and those that stand out are ejected.
    pub fn sweep(&mut self, now: Time, entropy: &mut impl Entropy) {
        for host in 0..self.hosts.len() {
            if self.hosts[host].ejected_at.is_some() && self.has_served(host, now) {
                self.ejected -= 1;
                let it = &mut self.hosts[host];
                it.ejected_at = None;
                it.back_since = Some(now);
                it.consecutive_5xx = 0;
                it.consecutive_gateway_failure = 0;
                it.consecutive_local_origin_failure = 0;
            }
            for counts in &mut self.hosts[host].counts {
                counts.before = (counts.total, counts.good);
                (counts.total, counts.good) = (0, 0);
            }
        }
        self.judge(Origin::External, now, entropy);
        let threshold = self.success_rate_threshold;
        self.judge(Origin::Local, now, entropy);
        self.success_rate_threshold = threshold;
        for host in &mut self.hosts {
            let back = host.back_since.map_or(Span::ZERO, |since| now.since(since));
            let healthy = host.ejected_at.is_none() && host.back_since.is_some();
            if healthy && back >= self.spec.interval {
                host.multiplier = host.multiplier.saturating_sub(1);
            }
        }
    }

    /// Whether the host is left out; unknown hosts are not.
    #[must_use]
    pub fn is_ejected(&self, host: usize) -> bool {
        self.hosts
            .get(host)
            .is_some_and(|it| it.ejected_at.is_some())
    }

    /// The factor that the next ejection of the host starts from.
    #[must_use]
    pub fn multiplier(&self, host: usize) -> u32 {
        self.hosts.get(host).map_or(0, |it| it.multiplier)
    }

    /// Ejections refused because too many hosts were out.
    #[must_use]
    pub fn overflows(&self) -> u64 {
        self.overflows
    }

    /// The success rate, in percent, below which the last sweep ejected; `None` if it had too few hosts.
    #[must_use]
    pub fn success_rate_threshold(&self) -> Option<f64> {
        self.success_rate_threshold
    }

    /// What it was made from.
    #[must_use]
    pub fn spec(&self) -> &Outlier {
        &self.spec
    }

    fn has_served(&self, host: usize, now: Time) -> bool {
        let it = &self.hosts[host];
        let base = self.spec.base_ejection_time.0;
        let grown = Span(base.saturating_mul(u64::from(it.multiplier)));
        let lasts = grown.min(self.spec.max_ejection_time).plus(it.jitter);
        it.ejected_at.is_some_and(|at| now.since(at) >= lasts)
    }

    fn judge(&mut self, origin: Origin, now: Time, entropy: &mut impl Entropy) {
        self.success_rate_threshold = None;
        let (rate, percentage) = (self.spec.success_rate, self.spec.failure_percentage);
        let hosts = self.hosts.len();
        if hosts < rate.minimum_hosts as usize && hosts < percentage.minimum_hosts as usize {
            return;
        }
        // Both selections are made before anybody is ejected.
        let mut by_rate = core::mem::take(&mut self.by_rate);
        let mut by_percentage = core::mem::take(&mut self.by_percentage);
        self.select(&mut by_rate, origin, rate.request_volume);
        self.select(&mut by_percentage, origin, percentage.request_volume);
        if by_rate.len() >= rate.minimum_hosts.max(1) as usize {
            let threshold = threshold(&by_rate, f64::from(rate.stdev_factor) / 1000.0);
            self.success_rate_threshold = Some(threshold);
            let enforcing = match origin {
                Origin::External => rate.enforcing,
                Origin::Local => rate.enforcing_local_origin,
            };
            let outliers = by_rate.iter().filter(|&&(_, success)| success < threshold);
            self.eject_all(outliers, enforcing, now, entropy);
        }
        if by_percentage.len() >= percentage.minimum_hosts.max(1) as usize {
            let threshold = f64::from(percentage.threshold);
            let enforcing = match origin {
                Origin::External => percentage.enforcing,
                Origin::Local => percentage.enforcing_local_origin,
            };
            let failing = |&&(_, success): &&(usize, f64)| 100.0 - success >= threshold;
            let outliers = by_percentage.iter().filter(failing);
            self.eject_all(outliers, enforcing, now, entropy);
        }
        self.by_rate = by_rate;
        self.by_percentage = by_percentage;
    }

    /// The hosts with enough requests in the interval that ended, and their success rates.
    fn select(&self, selected: &mut Vec<(usize, f64)>, origin: Origin, volume: u64) {
        selected.clear();
        for (i, host) in self.hosts.iter().enumerate() {
            let (total, good) = host.counts[origin as usize].before;
            if host.ejected_at.is_none() && total > 0 && total >= volume {
                selected.push((i, good as f64 * 100.0 / total as f64));
            }
        }
    }

    fn eject_all<'a>(
        &mut self,
        outliers: impl Iterator<Item = &'a (usize, f64)>,
        enforcing: u32,
        now: Time,
        entropy: &mut impl Entropy,
    ) {
        for &(host, _) in outliers {
            if self.hosts[host].ejected_at.is_none() {
                self.eject(host, enforcing, now, entropy);
            }
        }
    }

    fn eject(&mut self, host: usize, enforcing: u32, now: Time, entropy: &mut impl Entropy) {
        let percent = 100.0 * (self.ejected + 1) as f64 / self.hosts.len() as f64;
        let first_of_all = self.spec.always_eject_one_host && self.ejected == 0;
        if percent > f64::from(self.spec.max_ejection_percent) && !first_of_all {
            self.overflows += 1;
            return;
        }
        if !enforced(enforcing, entropy) {
            return;
        }
        self.ejected += 1;
        let (base, max) = (self.spec.base_ejection_time, self.spec.max_ejection_time);
        let jitter = self.spec.max_ejection_time_jitter.0 / 1_000_000;
        let it = &mut self.hosts[host];
        it.ejected_at = Some(now);
        it.jitter = match jitter {
            0 => Span::ZERO,
            jitter => Span::millis(entropy.next_u64() % (jitter + 1)),
        };
        if base.0.saturating_mul(u64::from(it.multiplier)) < max.plus(base).0 {
            it.multiplier += 1;
        }
    }
}

/// `mean - factor * stdev` of the success rates.
fn threshold(hosts: &[(usize, f64)], factor: f64) -> f64 {
    let rates = || hosts.iter().map(|&(_, rate)| rate);
    let count = hosts.len() as f64;
    let mean = rates().sum::<f64>() / count;
    let variance = rates()
        .map(|rate| (rate - mean) * (rate - mean))
        .sum::<f64>()
        / count;
    mean - factor * libm::sqrt(variance)
}

/// Whether something that is enforced so many times in a hundred is enforced this time.
fn enforced(percent: u32, entropy: &mut impl Entropy) -> bool {
    match percent {
        0 => false,
        100.. => true,
        percent => entropy.next_u64() % 100 < u64::from(percent),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The same draw each time.
    struct Draw(u64);

    impl Entropy for Draw {
        fn next_u64(&mut self) -> u64 {
            self.0
        }
    }

    const fn at(seconds: u64) -> Time {
        Time(seconds * 1_000_000_000)
    }

    fn spec() -> Outlier {
        Outlier {
            max_ejection_percent: 100,
            consecutive_5xx: 2,
            ..Outlier::default()
        }
    }

    fn answers(detector: &mut OutlierDetector, host: usize, code: u16, count: usize) {
        for _ in 0..count {
            detector.response(host, code, at(0), &mut Draw(50));
        }
    }

    #[test]
    fn a_500_clears_the_gateway_counter_and_any_other_answer_both() {
        let mut detector = OutlierDetector::new(
            &Outlier {
                consecutive_5xx: 100,
                consecutive_gateway_failure: 3,
                enforcing_consecutive_gateway_failure: 100,
                ..spec()
            },
            1,
        );
        answers(&mut detector, 0, 502, 2);
        answers(&mut detector, 0, 500, 1);
        answers(&mut detector, 0, 504, 2);
        assert!(!detector.is_ejected(0));
        answers(&mut detector, 0, 404, 1);
        answers(&mut detector, 0, 503, 2);
        assert!(!detector.is_ejected(0));
        answers(&mut detector, 0, 503, 1);
        assert!(detector.is_ejected(0));
    }

    #[test]
    fn an_ejection_that_is_not_enforced_clears_its_counter_and_changes_nothing_else() {
        let mut detector = OutlierDetector::new(
            &Outlier {
                enforcing_consecutive_5xx: 50,
                ..spec()
            },
            1,
        );
        answers(&mut detector, 0, 500, 2);
        assert!(!detector.is_ejected(0), "50 is not below 50");
        detector.response(0, 500, at(0), &mut Draw(149));
        assert!(!detector.is_ejected(0), "counts from 0 again");
        detector.response(0, 500, at(0), &mut Draw(149));
        assert!(detector.is_ejected(0), "49 is below 50");
        assert_eq!(detector.multiplier(0), 1);
    }

    #[test]
    fn an_ejected_host_does_not_fire_again_until_it_is_back() {
        let mut detector = OutlierDetector::new(&spec(), 2);
        answers(&mut detector, 0, 500, 20);
        assert_eq!((detector.multiplier(0), detector.overflows()), (1, 0));
        detector.sweep(at(30), &mut Draw(0));
        assert!(!detector.is_ejected(0));
        answers(&mut detector, 0, 500, 1);
        assert!(!detector.is_ejected(0), "the counters were cleared");
    }

    #[test]
    fn jitter_prolongs_an_ejection_by_whole_milliseconds() {
        let mut detector = OutlierDetector::new(
            &Outlier {
                max_ejection_time_jitter: Span::secs(20),
                ..spec()
            },
            1,
        );
        for _ in 0..2 {
            detector.response(0, 500, at(0), &mut Draw(20_001 + 10_000));
        }
        detector.sweep(at(39), &mut Draw(0));
        assert!(detector.is_ejected(0));
        detector.sweep(at(40), &mut Draw(0));
        assert!(!detector.is_ejected(0));
    }

    #[test]
    fn the_multiplier_stops_growing_once_it_covers_the_maximum() {
        let mut detector = OutlierDetector::new(
            &Outlier {
                base_ejection_time: Span::secs(30),
                max_ejection_time: Span::secs(100),
                ..spec()
            },
            1,
        );
        let mut now = 0;
        for expected in [1, 2, 3, 4, 5, 5, 5] {
            for _ in 0..2 {
                detector.response(0, 500, at(now), &mut Draw(0));
            }
            assert_eq!(detector.multiplier(0), expected);
            now += 100;
            detector.sweep(at(now), &mut Draw(0));
            assert!(!detector.is_ejected(0), "at most 100 s");
        }
    }

    #[test]
    fn failures_of_85_percent_eject_when_enforced() {
        let mut detector = OutlierDetector::new(
            &Outlier {
                consecutive_5xx: 1000,
                success_rate: SuccessRate {
                    enforcing: 0,
                    ..Outlier::default().success_rate
                },
                failure_percentage: FailurePercentage {
                    enforcing: 100,
                    minimum_hosts: 2,
                    ..Outlier::default().failure_percentage
                },
                ..spec()
            },
            3,
        );
        for (host, bad) in [(0, 85), (1, 84)] {
            answers(&mut detector, host, 500, bad);
            answers(&mut detector, host, 200, 100 - bad);
        }
        answers(&mut detector, 2, 500, 49);
        detector.sweep(at(10), &mut Draw(0));
        assert_eq!(
            [0, 1, 2].map(|host| detector.is_ejected(host)),
            [true, false, false]
        );
    }

    #[test]
    fn local_origin_failures_count_apart_when_split_and_as_statuses_otherwise() {
        let mut together = OutlierDetector::new(&spec(), 1);
        let mut split = OutlierDetector::new(
            &Outlier {
                split_local_origin: true,
                consecutive_local_origin_failure: 3,
                ..spec()
            },
            1,
        );
        for detector in [&mut together, &mut split] {
            detector.local_origin(0, LocalOrigin::ConnectFailed, at(0), &mut Draw(0));
            detector.local_origin(0, LocalOrigin::Timeout, at(0), &mut Draw(0));
        }
        assert!(together.is_ejected(0));
        assert!(!split.is_ejected(0));
        answers(&mut split, 0, 500, 1);
        split.local_origin(0, LocalOrigin::Timeout, at(0), &mut Draw(0));
        assert!(split.is_ejected(0));
    }

    #[test]
    fn unknown_hosts_and_odd_clocks_do_no_harm() {
        let mut detector = OutlierDetector::new(&spec(), 0);
        answers(&mut detector, 7, 500, 3);
        detector.sweep(Time::MAX, &mut Draw(0));
        let mut detector = OutlierDetector::new(&spec(), 1);
        for now in [Time::MAX, Time::ZERO, Time::MAX] {
            detector.response(0, 500, now, &mut Draw(0));
            detector.sweep(now, &mut Draw(0));
        }
        assert!(!detector.is_ejected(9));
    }

    #[test]
    fn check_names_what_envoy_would_refuse() {
        assert!(Outlier::default().check().is_ok());
        let bad = Outlier {
            max_ejection_time: Span::secs(1),
            max_ejection_percent: 101,
            ..Outlier::default()
        };
        let fields: Vec<_> = bad.check().unwrap_err().iter().map(|e| e.field).collect();
        assert_eq!(
            fields,
            ["outlier.max_ejection_time", "outlier.max_ejection_percent"]
        );
    }
}
