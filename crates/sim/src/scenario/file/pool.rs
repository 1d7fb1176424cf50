//! Connections that are kept, as written.

use seawall::{Failure, FailureKind, Phase, Span};

use super::failure::FailureFile;
use crate::scenario::context::Context;
use crate::scenario::passage::PoolRule;
use crate::scenario::tree::At;
use crate::scenario::written::{Limit, Whole, record, words};

/// More connections that are there from the start are a slip of the finger.
const WARM_MAX: u32 = 100_000;

record! {
    /// Connections that each calling process keeps to the service, and who gets one. What opening one takes is said by
    /// the `phases` of the link. A bare number is how many.
    pub(crate) struct PoolFile [size] {
        /// At most so many at once, to all replicas together.
        size: Limit<1> = "unlimited",
        /// Where they end.
        ends_at: At<EndsAt> = "replica",
        /// At most so many to one replica. Without: as many as there may be.
        per_replica: Option<At<Whole<1>>>,
        /// Attempts that can use one at once: 1 for HTTP/1, the greatest number of concurrent streams for HTTP/2.
        streams: Whole<1> = 1,
        /// The longest an attempt waits for one, from 0s. Without: as long as the attempt may.
        acquire_timeout: Option<At<Span>>,
        /// What it gets then. Default: `connect_timeout`. The phase is `connect`: nothing was sent.
        exhausted: Option<At<FailureFile>>,
        /// The caller closes one that has been idle so long, above 0s. Without: never.
        idle_timeout: Option<At<Span>>,
        /// The service closes one on which it has had nothing to do for so long, above 0s. Without: never.
        server_idle_timeout: Option<At<Span>>,
        /// Whether the caller notices that the service closed one, as soon as the news has reached it; otherwise it
        /// finds out by a request that is reset. Default: true.
        notices_close: Option<At<bool>>,
        /// A process keeps the addresses of the service so long, above 0s, and goes to the old ones meanwhile. Without: it
        /// resolves the name for each new connection.
        dns_ttl: Option<At<Span>>,
        /// None is used again when it is so old, above 0s. Without: for ever.
        max_lifetime: Option<At<Span>>,
        /// Connections that are there when a process begins.
        warm: At<Whole<0>> = 0,
        /// Work that a new connection costs the worker of the service which takes its first request.
        accept: Span = "0s",
    }
}

/// Where connections end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum EndsAt {
    Replica,
    Balancer,
}

words! {
    /// Where connections end.
    EndsAt, "EndsAt" {
        "replica" => EndsAt::Replica,
            "At the replica that the service's `balance` chooses for the attempt; they go when it dies.";
        "balancer" => EndsAt::Balancer, "At a balancer in front of the replicas.";
    }
}

impl PoolFile {
    pub(crate) fn mean(&self, context: &mut Context<'_>) -> PoolRule {
        let to_replicas = self.ends_at.value == EndsAt::Replica;
        self.check(context);
        PoolRule {
            size: self.size.0,
            per_replica: self.per_replica.as_ref().map(|most| most.value.0),
            to_replicas,
            streams: self.streams.0,
            acquire_timeout: self.acquire_timeout.as_ref().map(|wait| wait.value),
            exhausted: match &self.exhausted {
                Some(failure) => Failure {
                    phase: failure.value.phase.unwrap_or(Phase::Connect),
                    ..failure.value.mean()
                },
                None => FailureKind::ConnectTimeout.into(),
            },
            idle_timeout: self.idle_timeout.as_ref().map(|idle| idle.value),
            server_idle_timeout: self.server_idle_timeout.as_ref().map(|idle| idle.value),
            notices_close: self.notices_close.as_ref().is_none_or(|it| it.value),
            dns_ttl: self.dns_ttl.as_ref().map(|ttl| ttl.value),
            max_lifetime: self.max_lifetime.as_ref().map(|age| age.value),
            warm: self.warm.value.0,
            accept: self.accept,
        }
    }

    /// Keys that make no sense, or none together.
    fn check(&self, context: &mut Context<'_>) {
        let positive = [
            ("idle_timeout", &self.idle_timeout),
            ("server_idle_timeout", &self.server_idle_timeout),
            ("max_lifetime", &self.max_lifetime),
            ("dns_ttl", &self.dns_ttl),
        ];
        for (key, written) in positive {
            if let Some(written) = written
                && written.value == Span::ZERO
            {
                context.within(key, |context| {
                    context.report(written.at, "must be above 0s");
                });
            }
        }
        if let Some(most) = &self.per_replica
            && self.ends_at.value == EndsAt::Balancer
        {
            let message = "per_replica: with `ends_at: balancer` no connection is one to a replica";
            context.report(most.at, message);
        }
        let endless = self.size.0.is_none() && self.per_replica.is_none();
        if let Some(wait) = &self.acquire_timeout
            && endless
        {
            let message = "acquire_timeout: nobody waits for a connection where there may be any number; \
                           give the pool a `size` or `per_replica`";
            context.report(wait.at, message);
        }
        if let Some(failure) = &self.exhausted
            && self.acquire_timeout.is_none()
        {
            let message =
                "exhausted: says what an attempt gets after `acquire_timeout`; write both";
            context.report(failure.at, message);
        }
        if let Some(notices) = &self.notices_close
            && self.server_idle_timeout.is_none()
        {
            let message = "notices_close: the service closes nothing without `server_idle_timeout`";
            context.report(notices.at, message);
        }
        if self.warm.value.0 > WARM_MAX {
            let message = format!(
                "warm: at most {WARM_MAX} connections for each process, got {}",
                self.warm.value.0
            );
            context.report(self.warm.at, message);
        }
        if let Some(size) = self.size.0
            && self.warm.value.0 > size
        {
            let message = format!(
                "warm: {} are more than the pool may have ({size})",
                self.warm.value.0
            );
            context.report(self.warm.at, message);
        }
    }
}
