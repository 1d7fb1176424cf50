//! The `faults` block.

use seawall::{Phase, Span, Time};

use super::cache::EmptyCacheFile;
use super::change_link::ChangeLinkFile;
use super::failure::FailureFile;
use super::gate::ThrottleFile;
use super::trouble::{BadReplicasFile, DeployFile, ReplicasFile};
use crate::scenario::context::Context;
use crate::scenario::model::{Client, Fault, FaultKind, Link, Service, Trouble};
use crate::scenario::tree::{At, Position};
use crate::scenario::written::{Factor, Share, choice, record};

record! {
    /// A disturbance on the timeline: when, how long, and one key that says what.
    pub(crate) struct FaultFile {
        /// When it begins, in simulated time from the start; before the run's end.
        at: At<Span>,
        /// How long it lasts; without, it never ends.
        r#for: Option<At<Span>>,
        ..kind: FaultKindFile,
    }
}

choice! {
    /// What a fault does while it lasts.
    pub(crate) enum FaultKindFile {
        /// Work started meanwhile takes so many times as long.
        slow => Slow(SlowFile),
        /// A share of attempts is answered with a failure instead of being worked on.
        errors => Errors(ErrorsFile),
        /// A share of the workers of each replica is gone; running work ends first.
        lose_capacity => LoseCapacity(LoseCapacityFile),
        /// Nothing answers: requests vanish, running and queued jobs are lost.
        outage => Outage(ServiceRef),
        /// Connections are refused at once.
        refuse => Refuse(ServiceRef),
        /// The certificate of a service is not accepted: handshakes with it fail. Connections that are open stay open.
        certificate => Certificate(ServiceRef),
        /// The tokens of a credential that were issued so far are no good any more. Takes no time: no `for`.
        revoke => Revoke(CredentialRef),
        /// Entries of the caches of a service are lost, at once. Takes no time: no `for`.
        empty_cache => EmptyCache(EmptyCacheFile),
        /// A client's arrivals come so many times as often; of a client that loops, a share of the instances goes on.
        load => Load(LoadFile),
        /// Replicas die, and start again as the service says, not before the fault is over; without `for` it is over at
        /// once.
        crash => Crash(ReplicasFile),
        /// All replicas of a service are started anew, some at a time, as in a rolling deployment. It takes as long as it takes: no
        /// `for`.
        deploy => Deploy(DeployFile),
        /// Replicas stand still.
        pause => Pause(ReplicasFile),
        /// Single replicas answer with failures or are slow.
        bad_replicas => BadReplicas(BadReplicasFile),
        /// A service lets in so many requests and no more: what operators do to give it air.
        throttle => Throttle(ThrottleFile),
        /// Retries under a policy are switched off.
        kill_switch => KillSwitch(PolicyRef),
        /// Processes that call under a policy go on under another one, all of them or a share (a canary), at once or one
        /// after another; when the fault is over they go back. Calls under way end as they began.
        change_policy => ChangePolicy(ChangePolicyFile),
        /// Calls go over another link than the one they are written with: a network that is slow, loses packets or is cut,
        /// a phase that takes long or fails. With several at a time, the last one in the file holds.
        change_link => ChangeLink(ChangeLinkFile),
    }
}

record! {
    /// Which service, and how slow.
    pub(crate) struct SlowFile {
        /// The service.
        service: At<String>,
        /// So many times as long, at least 0; 0 is instantaneous.
        factor: Factor,
    }
}

record! {
    /// Which service, how many attempts, and what they get.
    pub(crate) struct ErrorsFile {
        /// The service.
        service: At<String>,
        /// The share of attempts.
        share: Share = "100%",
        /// What they get.
        fail: FailureFile = "unavailable",
        /// Whether the program runs first, with its work and its effects, and only its answer is replaced.
        after_program: bool = false,
    }
}

record! {
    /// Which service, and how much of it.
    pub(crate) struct LoseCapacityFile {
        /// The service.
        service: At<String>,
        /// The share of workers, rounded to whole ones.
        share: Share,
    }
}

record! {
    /// Which service.
    pub(crate) struct ServiceRef [service] {
        /// The service.
        service: At<String>,
    }
}

record! {
    /// Which client, and how much more.
    pub(crate) struct LoadFile {
        /// The client.
        client: At<String>,
        /// So many times as often, at least 0. Of a client that loops, the share of its instances that go on, at most 1; the
        /// others stand still when what they are doing is over, and go on together when the fault is over.
        factor: Factor,
    }
}

record! {
    /// Which credential.
    pub(crate) struct CredentialRef [credential] {
        /// The credential.
        credential: At<String>,
    }
}

record! {
    /// Which policy.
    pub(crate) struct PolicyRef [policy] {
        /// The policy.
        policy: At<String>,
    }
}

record! {
    /// Which policy, what takes its place, and where.
    pub(crate) struct ChangePolicyFile {
        /// The policy that calls are written with.
        policy: At<String>,
        /// The policy that takes its place.
        to: At<String>,
        /// The share of each caller's processes, rounded up to whole ones.
        share: Share = "100%",
        /// How long it takes until the last of them has changed; evenly, one after another.
        over: Span = "0s",
    }
}

impl FaultFile {
    pub(crate) fn mean(
        &self,
        run: Option<Span>,
        links: &[Link],
        context: &mut Context<'_>,
    ) -> Option<Fault> {
        let at = self.at.value;
        if run.is_some_and(|run| at >= run) {
            let message = format!("{at} is after the end of the run ({})", run?);
            context.within("at", |context| context.report(self.at.at, message));
        }
        if let Some(lasting) = &self.r#for
            && lasting.value == Span::ZERO
        {
            context.within("for", |context| {
                context.report(lasting.at, "must be above 0s")
            });
        }
        let in_vain = match &self.kind {
            FaultKindFile::Revoke(_) => Some("to revoke what was issued takes no time"),
            FaultKindFile::EmptyCache(_) => Some("to lose what is there takes no time"),
            FaultKindFile::Deploy(_) => Some("a deployment takes as long as its batches do"),
            _ => None,
        };
        if let (Some(lasting), Some(why)) = (&self.r#for, in_vain) {
            context.within("for", |context| {
                context.report(lasting.at, format!("{why}; leave this out"));
            });
        }
        let at = Time::ZERO.after(at);
        Some(Fault {
            at,
            until: match &self.r#for {
                Some(lasting) => Some(at.after(lasting.value)),
                // A death takes no time.
                None => matches!(
                    self.kind,
                    FaultKindFile::Crash(_)
                        | FaultKindFile::Revoke(_)
                        | FaultKindFile::EmptyCache(_)
                )
                .then_some(at),
            },
            kind: self.kind.mean(links, context)?,
        })
    }
}

impl FaultFile {
    /// Why it would do nothing, and where that is written: there is nothing it could take away or
    /// multiply.
    pub(crate) fn in_vain(
        &self,
        clients: &[Client],
        services: &[Service],
    ) -> Option<(Position, String)> {
        match &self.kind {
            FaultKindFile::Load(LoadFile { client, factor, .. }) => {
                let named = clients.iter().find(|c| c.name == client.value)?;
                let message = format!(
                    "`{}` loops and has no arrivals that could come more often; up to 1, the factor is the share of its instances that go on",
                    named.name
                );
                (named.loops() && factor.0 > 1.0).then_some((client.at, message))
            }
            FaultKindFile::LoseCapacity(LoseCapacityFile { service, .. }) => {
                let named = services.iter().find(|s| s.name == service.value)?;
                let message = format!(
                    "`{}` has unlimited workers, of which a share is still unlimited; give it a `concurrency`",
                    named.name
                );
                named.concurrency.is_none().then_some((service.at, message))
            }
            _ => None,
        }
    }
}

impl FaultFile {
    /// Whether it is one of handshakes where no link has any.
    pub(crate) fn shakes_no_hands(&self, links: &[Link]) -> Option<(Position, String)> {
        let FaultKindFile::Certificate(ServiceRef { service, .. }) = &self.kind else {
            return None;
        };
        let with_tls = |link: &Link| {
            let passage = link.passage.as_ref();
            passage.is_some_and(|passage| passage.phase(Phase::Tls).is_some())
        };
        let message =
            "no link has a handshake: write `phases: { tls: … }` on the one that leads there";
        (!links.iter().any(with_tls)).then(|| (service.at, message.to_owned()))
    }
}

impl FaultKindFile {
    fn mean(&self, links: &[Link], context: &mut Context<'_>) -> Option<FaultKind> {
        Some(match self {
            FaultKindFile::Slow(slow) => FaultKind::Slow {
                service: context.service(&slow.service)?,
                factor: slow.factor.0,
            },
            FaultKindFile::Errors(errors) => FaultKind::Errors {
                service: context.service(&errors.service)?,
                share: errors.share.0,
                failure: errors.fail.mean(),
                after_program: errors.after_program,
            },
            FaultKindFile::LoseCapacity(lose) => FaultKind::LoseCapacity {
                service: context.service(&lose.service)?,
                share: lose.share.0,
            },
            FaultKindFile::Outage(outage) => FaultKind::Outage {
                service: context.service(&outage.service)?,
            },
            FaultKindFile::Refuse(refuse) => FaultKind::Refuse {
                service: context.service(&refuse.service)?,
            },
            FaultKindFile::Certificate(certificate) => FaultKind::Certificate {
                service: context.service(&certificate.service)?,
            },
            FaultKindFile::Revoke(revoke) => FaultKind::Revoke {
                credential: context.credential(&revoke.credential)?,
            },
            FaultKindFile::EmptyCache(empty) => empty.mean(context)?,
            FaultKindFile::Load(load) => FaultKind::Load {
                client: context.client(&load.client)?,
                factor: load.factor.0,
            },
            FaultKindFile::Crash(crash) => crash.mean(Trouble::Crash, context)?,
            FaultKindFile::Deploy(deploy) => deploy.mean(context)?,
            FaultKindFile::Pause(pause) => pause.mean(Trouble::Pause, context)?,
            FaultKindFile::BadReplicas(bad) => bad.mean(context)?,
            FaultKindFile::Throttle(throttle) => throttle.mean(context)?,
            FaultKindFile::KillSwitch(switch) => FaultKind::KillSwitch {
                policy: context.policy(&switch.policy)?,
            },
            FaultKindFile::ChangeLink(change) => change.mean(links, context)?,
            FaultKindFile::ChangePolicy(change) => {
                let (policy, to) = (context.policy(&change.policy), context.policy(&change.to));
                let (policy, to) = (policy?, to?);
                if policy == to {
                    let message = format!("`{}` is the policy that it replaces", change.to.value);
                    context.within("change_policy.to", |c| c.report(change.to.at, message));
                }
                FaultKind::ChangePolicy {
                    policy,
                    to,
                    share: change.share.0,
                    over: change.over,
                }
            }
        })
    }
}
