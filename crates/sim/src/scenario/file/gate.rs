//! What stands in front of a service, as written.

use seawall::Span;
use seawall::outlier::{FailurePercentage, Outlier, SuccessRate};
use seawall::rate_limit::{Gcra, Resilience4jRate};

use super::failure::FailureFile;
use super::service::ServiceFile;
use crate::scenario::context::Context;
use crate::scenario::model::{Ejection, FaultKind, RateRule, ServerLimit, TellWait};
use crate::scenario::tree::At;
use crate::scenario::written::{Form, Rate, Whole, choice, mirror, record, words};

record! {
    /// What bounds how many requests a service lets in, all replicas together. The others are answered at once.
    pub(crate) struct ServiceRateLimitFile {
        /// Whether each client has a limit of its own; a request is the client's whose iteration caused it.
        per_client: bool = false,
        /// What the others get.
        fail: FailureFile = "overloaded",
        /// How exactly they are told when to come back.
        retry_after: TellWait = "seconds",
        ..kind: LimitKindFile,
    }
}

record! {
    /// Which service, and what it lets in.
    pub(crate) struct ThrottleFile {
        /// The service.
        service: At<String>,
        /// The limit, in the place of the service's own `rate_limit` if it has one.
        limit: ServiceRateLimitFile,
    }
}

choice! {
    /// How requests are counted.
    pub(crate) enum LimitKindFile {
        /// Evenly: the generic cell rate algorithm, a leaky bucket.
        gcra => Gcra(GcraFile),
        /// So many in each period, counted from 0s; what a period does not use is lost.
        per_period => PerPeriod(PerPeriodFile),
    }
}

record! {
    /// One request per 1 / rate, and so many at once after a rest.
    pub(crate) struct GcraFile {
        /// Requests per time, above 0.
        rate: At<Rate>,
        /// Requests that may come at once.
        burst: Whole<1> = 1,
    }
}

record! {
    /// So many requests in each period.
    pub(crate) struct PerPeriodFile {
        /// How many.
        limit: Whole<1>,
        /// How long a period is, above 0s.
        period: At<Span>,
    }
}

words! {
    /// How exactly a refused caller is told when to come back.
    TellWait, "TellWait" {
        "none" => TellWait::Not, "Not at all.";
        "exact" => TellWait::Exactly, "To the nanosecond.";
        "seconds" => TellWait::InSeconds, "In whole seconds, rounded up: what the HTTP header can say.";
    }
}

mirror! {
    /// Envoy's outlier detection, seen by one balancer for all callers.
    Outlier as "Outlier" {
        /// Time between two looks at the counts; hosts come back at a look only.
        interval: Span = "10s",
        /// How long a first ejection lasts; a further one lasts longer by as much.
        base_ejection_time: Span = "30s",
        /// The longest ejection.
        max_ejection_time: Span = "300s",
        /// Up to so much is added to each ejection.
        max_ejection_time_jitter: Span = "0s",
        /// The most hosts out at once, in percent; with 10 and fewer than ten hosts none ever is.
        max_ejection_percent: Whole<0> = 10,
        /// Whether one host may be out whatever that percentage says.
        always_eject_one_host: bool = false,
        /// Answers 5xx in a row that eject.
        consecutive_5xx: Whole<1> = 5,
        /// How many of those ejections happen, in percent.
        enforcing_consecutive_5xx: Whole<0> = 100,
        /// Answers 502, 503 or 504 in a row that eject.
        consecutive_gateway_failure: Whole<1> = 5,
        /// How many of those ejections happen, in percent.
        enforcing_consecutive_gateway_failure: Whole<0> = 0,
        /// Whether attempts without an answer are counted apart; else they count as 503 and 504.
        split_local_origin: bool = false,
        /// Attempts without an answer in a row that eject, when counted apart.
        consecutive_local_origin_failure: Whole<1> = 5,
        /// How many of those ejections happen, in percent.
        enforcing_consecutive_local_origin_failure: Whole<0> = 100,
        /// By success rate, compared with the other hosts.
        success_rate: SuccessRate => Outlier::default().success_rate,
        /// By failure percentage.
        failure_percentage: FailurePercentage => Outlier::default().failure_percentage,
    }
}

mirror! {
    /// Ejects hosts whose success rate is below mean - factor × standard deviation.
    SuccessRate as "OutlierSuccessRate" {
        /// Hosts with enough requests that there must be.
        minimum_hosts: Whole<0> = 5,
        /// Requests per interval that are enough.
        request_volume: Whole<0> = 100,
        /// The factor, in thousandths.
        stdev_factor: Whole<0> = 1900,
        /// How many of those ejections happen, in percent.
        enforcing: Whole<0> = 100,
        /// The same of attempts without an answer, when counted apart.
        enforcing_local_origin: Whole<0> = 100,
    }
}

mirror! {
    /// Ejects hosts of whose requests at least so many fail.
    FailurePercentage as "OutlierFailurePercentage" {
        /// Hosts with enough requests that there must be.
        minimum_hosts: Whole<0> = 5,
        /// Requests per interval that are enough.
        request_volume: Whole<0> = 50,
        /// In percent.
        threshold: Whole<0> = 85,
        /// How many of those ejections happen, in percent.
        enforcing: Whole<0> = 0,
        /// The same of attempts without an answer, when counted apart.
        enforcing_local_origin: Whole<0> = 0,
    }
}

impl ServiceRateLimitFile {
    pub(super) fn mean(&self, context: &mut Context<'_>) -> RateRule {
        let limit = match &self.kind {
            LimitKindFile::Gcra(gcra) => {
                let rate = gcra.rate.value.0;
                if rate <= 0.0 {
                    context.within("gcra.rate", |context| {
                        context.report(gcra.rate.at, "must be above 0");
                    });
                }
                ServerLimit::Gcra(Gcra {
                    period: Span::from_secs_f64(1.0 / rate),
                    burst: gcra.burst.0,
                })
            }
            LimitKindFile::PerPeriod(file) => {
                if file.period.value == Span::ZERO {
                    context.within("per_period.period", |context| {
                        context.report(file.period.at, "must be above 0s");
                    });
                }
                ServerLimit::PerPeriod(Resilience4jRate {
                    limit_for_period: file.limit.0,
                    limit_refresh_period: file.period.value,
                    timeout: Span::ZERO,
                    blocking: false,
                })
            }
        };
        RateRule {
            limit,
            per_client: self.per_client,
            failure: self.fail.mean(),
            retry_after: self.retry_after,
        }
    }
}

impl ThrottleFile {
    pub(super) fn mean(&self, context: &mut Context<'_>) -> Option<FaultKind> {
        let rule = context.within("throttle.limit", |context| self.limit.mean(context));
        Some(FaultKind::Throttle {
            service: context.service(&self.service)?,
            rule,
        })
    }
}

impl ServiceFile {
    pub(super) fn limit(&self, context: &mut Context<'_>) -> Option<RateRule> {
        let file = self.rate_limit.as_ref()?;
        Some(context.within("rate_limit", |context| file.mean(context)))
    }

    pub(super) fn ejection(&self, context: &mut Context<'_>) -> Option<Ejection> {
        let Some(outlier) = &self.outlier else {
            if let Some(threshold) = &self.panic_threshold {
                let message = "says nothing without `outlier`";
                context.within("panic_threshold", |context| {
                    context.report(threshold.at, message)
                });
            }
            return None;
        };
        for error in outlier.value.check().err().into_iter().flatten() {
            context.report(outlier.at, format!("{}: {}", error.field, error.message));
        }
        if self.replicas.0 == 1 {
            let message =
                "outlier: of one replica none can be left out; give it several `replicas`";
            context.report(outlier.at, message);
        }
        Some(Ejection {
            outlier: outlier.value,
            panic_threshold: self
                .panic_threshold
                .as_ref()
                .map_or(0.5, |share| share.value.0),
        })
    }
}

/// Requests per interval.
impl Form<u64> for Whole<0> {
    fn mean(self) -> u64 {
        self.0.into()
    }

    fn of(value: &u64) -> Self {
        Whole(u32::try_from(*value).unwrap_or(u32::MAX))
    }
}
