//! Faults of single replicas, as written.

use super::failure::FailureFile;
use crate::scenario::context::Context;
use crate::scenario::model::{
    Behaviour, Deployment, Fault, FaultKind, Service, Sharing, SharingRule, Trouble,
};
use crate::scenario::tree::At;
use crate::scenario::written::{Factor, Limit, Share, Whole, record};
use seawall::Span;

record! {
    /// Which replicas. A bare word is the service.
    pub(crate) struct ReplicasFile [service] {
        /// The service.
        service: At<String>,
        /// The first so many; `unlimited` is all.
        replicas: Limit<1> = "unlimited",
    }
}

record! {
    /// Which service, and how fast.
    pub(crate) struct DeployFile {
        /// The service.
        service: At<String>,
        /// How many replicas at a time.
        at_once: Whole<1> = 1,
        /// From the beginning of one batch to that of the next, above 0s.
        every: At<Span>,
        /// How long a replica gets no new requests before it is started anew; what is inside then is lost.
        drain: Span = "0s",
    }
}

record! {
    /// Which replicas, and how bad.
    pub(crate) struct BadReplicasFile {
        /// The service.
        service: At<String>,
        /// The first so many; `unlimited` is all.
        replicas: Limit<1> = 1,
        /// The share of attempts that they answer with a failure instead of working.
        errors: Share = "0%",
        /// What those get.
        fail: FailureFile = "internal",
        /// Other work takes so many times as long, at least 0.
        slow: Factor = 1,
    }
}

impl ReplicasFile {
    pub(super) fn mean(&self, trouble: Trouble, context: &mut Context<'_>) -> Option<FaultKind> {
        Some(FaultKind::Replicas {
            service: context.service(&self.service)?,
            replicas: self.replicas.0.unwrap_or(u32::MAX),
            trouble,
        })
    }
}

impl DeployFile {
    pub(super) fn mean(&self, context: &mut Context<'_>) -> Option<FaultKind> {
        if self.every.value == Span::ZERO {
            context.within("deploy.every", |context| {
                context.report(self.every.at, "must be above 0s");
            });
        }
        Some(FaultKind::Replicas {
            service: context.service(&self.service)?,
            replicas: u32::MAX,
            trouble: Trouble::Deploy(Deployment {
                at_once: self.at_once.0,
                every: self.every.value,
                drain: self.drain,
            }),
        })
    }
}

impl BadReplicasFile {
    pub(super) fn mean(&self, context: &mut Context<'_>) -> Option<FaultKind> {
        if self.errors.0 == 0.0 && self.slow.0 == 1.0 {
            let message = "does nothing: `errors` or `slow` is needed";
            context.report(self.position, message);
        }
        Some(FaultKind::Replicas {
            service: context.service(&self.service)?,
            replicas: self.replicas.0.unwrap_or(u32::MAX),
            trouble: Trouble::Bad {
                share: self.errors.0,
                failure: self.fail.mean(),
                slow: self.slow.0,
            },
        })
    }
}

/// Makes services ready for faults that hit their replicas one by one.
pub(crate) fn prepare(services: &mut [Service], faults: &mut [Fault]) {
    for fault in faults {
        let (service, trouble) = match fault.kind {
            FaultKind::Replicas {
                service, trouble, ..
            } => (service, Some(trouble)),
            FaultKind::Throttle { service, .. } => (service, None),
            _ => continue,
        };
        // One that could not be read is not there, and the reason has been reported.
        let Some(service) = services.get_mut(service as usize) else {
            continue;
        };
        // It takes as long as it takes.
        if let Some(Trouble::Deploy(deployment)) = trouble {
            fault.until = Some(fault.at.after(deployment.lasts(service.replicas)));
        }
        let behaviour: &mut Behaviour = service.behaviour.get_or_insert_default();
        if trouble == Some(Trouble::Pause) {
            behaviour.sharing.get_or_insert(Sharing::APART);
        }
    }
}

impl Sharing {
    /// Nobody shares anything; but all can be stopped at once.
    pub(crate) const APART: Sharing = Sharing {
        rule: SharingRule::Alike,
        cores: None,
        contention: None,
    };
}
