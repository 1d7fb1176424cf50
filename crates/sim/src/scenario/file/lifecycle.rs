//! Replicas that die, start again, stand still, are asked how they are, and come and go, as written.

use seawall::{FailureKind, Span};

use super::law::LawFile;
use super::service::ServiceFile;
use crate::scenario::context::Context;
use crate::scenario::model::{Cold, Memory, Pauses, Probe, ProbeKind, Restart, Scaling, Signal};
use crate::scenario::tree::At;
use crate::scenario::written::{Factor, Ratio, Share, Size, Whole, choice, record, words};

record! {
    /// What a replica can hold: one that needs more than `limit` dies. It needs `base` + `per_job` for each job
    /// inside, waiting or at work, + `per_session` for each session, + `leak` for each job that it has had.
    pub(crate) struct MemoryFile {
        /// What there is.
        limit: At<Size>,
        /// What is needed with nothing to do.
        base: Size = "0B",
        /// What each job inside needs.
        per_job: Size = "0B",
        /// What each session needs that a client holds with the replica.
        per_session: At<Size> = "0B",
        /// What each job leaves behind until the replica starts again.
        leak: Size = "0B",
    }
}

record! {
    /// What happens when a replica dies.
    pub(crate) struct RestartFile [after] {
        /// From its death until it takes requests again, or is asked whether it does.
        after: Span = "10s",
        /// How it works at first, and how replicas do that are added. Without: as ever.
        cold: Option<ColdFile>,
        /// What callers get whose jobs die with it.
        answer: DeathAnswer = "reset",
        /// Whether it comes back under another address. Nobody is at the old one, so connecting there takes as long as one
        /// lets it; callers with a `dns_ttl` go there for as long. Only links with a `pool` look.
        new_address: At<bool> = false,
    }
}

record! {
    /// Work takes longer at first; which of `for` and `jobs` comes first ends it.
    pub(crate) struct ColdFile {
        /// So many times as long.
        factor: Factor,
        /// For so long.
        r#for: Option<Span>,
        /// For so many pieces of work.
        jobs: Option<Whole<1>>,
    }
}

/// What callers get whose jobs die with their replica.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum DeathAnswer {
    Reset,
    Nothing,
}

words! {
    /// What callers get whose jobs die with their replica.
    DeathAnswer, "DeathAnswer" {
        "reset" => DeathAnswer::Reset, "The connection breaks at once.";
        "nothing" => DeathAnswer::Nothing, "No answer; they wait until they time out.";
    }
}

record! {
    /// Each replica stands still now and then: garbage collection, a slow disk, a neighbour. Jobs and their work wait;
    /// calls that were sent go on.
    pub(crate) struct PausesFile {
        /// From the end of one to the beginning of the next.
        every: At<LawFile>,
        /// How long.
        length: At<LawFile>,
    }
}

record! {
    /// Requests that ask each replica how it is, as Kubernetes sends them. They wait and work like others.
    pub(crate) struct ProbesFile {
        /// Whether a new replica has begun; nothing else is asked before. Too many failures start it again.
        startup: Option<ProbeFile>,
        /// Whether it lives; too many failures start it again.
        liveness: Option<ProbeFile>,
        /// Whether it gets requests.
        readiness: Option<ProbeFile>,
    }
}

record! {
    /// One kind of probe.
    pub(crate) struct ProbeFile {
        /// Which operation answers. Default: the one that serves callers that name none.
        operation: Option<At<String>>,
        /// From one to the next, above 0s.
        period: At<Span> = "10s",
        /// From the beginning of a new replica to its first.
        initial_delay: Span = "0s",
        /// The longest it may take, above 0s, at most the period.
        timeout: At<Span> = "1s",
        /// Failures in a row that count.
        failure_threshold: Whole<1> = 3,
        /// Successes in a row that count.
        success_threshold: Whole<1> = 1,
        /// Whether each replica is asked at an instant of its own, instead of all at once.
        spread: bool = true,
        /// Whether it is answered beside the queue and the workers, by a thread of its own.
        aside: bool = false,
    }
}

record! {
    /// Replicas are added and taken away by what is measured: ceil(replicas × measured ÷ target), as the
    /// Horizontal Pod Autoscaler does. The service begins with `replicas`; new ones begin cold.
    pub(crate) struct ScalingFile {
        /// At least so many.
        min: Whole<1> = 1,
        /// At most so many.
        max: At<Whole<1>>,
        /// How far the measure may be off its target without anything being done, as a part of it.
        tolerance: Share = "10%",
        /// How often it is looked at; the measure is the mean since the last look. Above 0s.
        every: At<Span> = "15s",
        /// From the decision until a new replica takes requests.
        lag: Span = "30s",
        /// No more are taken away than every decision of the last so long allows.
        cooldown: Span = "5min",
        ..signal: SignalFile,
    }
}

choice! {
    /// What is measured, and what it should be.
    pub(crate) enum SignalFile {
        /// The share of cores at work; workers that wait for calls do not count.
        cpu => Cpu(At<Share>),
        /// The share of workers that are held by jobs.
        workers => Workers(At<Share>),
        /// Jobs waiting per replica.
        queue => Queue(At<Ratio>),
    }
}

impl ServiceFile {
    pub(super) fn memory(&self, context: &mut Context<'_>) -> Option<Memory> {
        let file = self.memory.as_ref()?;
        let (limit, base) = (file.limit.value.0, file.base.0);
        if base.saturating_add(file.per_job.0) > limit {
            let message = "is less than what one job needs: every request would kill its replica";
            context.within("memory.limit", |context| {
                context.report(file.limit.at, message)
            });
        }
        Some(Memory {
            limit,
            base,
            per_job: file.per_job.0,
            per_session: file.per_session.value.0,
            leak: file.leak.0,
        })
    }

    pub(super) fn restart(&self, context: &mut Context<'_>) -> Restart {
        let Some(file) = &self.restart else {
            return Restart::default();
        };
        let cold = file.cold.as_ref().map(|cold| {
            if cold.r#for.is_none() && cold.jobs.is_none() {
                context.within("restart.cold", |context| {
                    context.report(cold.position, "`for` or `jobs` is needed: when it is warm");
                });
            }
            Cold {
                factor: cold.factor.0,
                lasts: cold.r#for,
                jobs: cold.jobs.map(|jobs| jobs.0),
            }
        });
        Restart {
            new_address: file.new_address.value,
            after: file.after,
            cold,
            answer: match file.answer {
                DeathAnswer::Reset => Some(FailureKind::Reset.into()),
                DeathAnswer::Nothing => None,
            },
        }
    }

    pub(super) fn pauses(&self, context: &mut Context<'_>) -> Option<Pauses> {
        let file = self.pauses.as_ref()?;
        let every = context.within("pauses.every", |context| file.every.value.mean(context));
        let length = context.within("pauses.length", |context| file.length.value.mean(context));
        let pauses = Pauses {
            every: every?,
            length: length?,
        };
        // Else a world would pause for ever without getting anywhere.
        if pauses.every.mean() == Some(0.0) && pauses.length.mean() == Some(0.0) {
            context.report(file.every.at, "pauses: `every` and `length` are both 0s");
        }
        Some(pauses)
    }

    pub(super) fn probes(&self, index: u32, context: &mut Context<'_>) -> Vec<Probe> {
        let Some(file) = &self.probes else {
            return Vec::new();
        };
        let kinds = [
            (ProbeKind::Startup, "startup", &file.startup),
            (ProbeKind::Liveness, "liveness", &file.liveness),
            (ProbeKind::Readiness, "readiness", &file.readiness),
        ];
        let written = kinds
            .into_iter()
            .filter_map(|(kind, name, file)| Some((kind, name, file.as_ref()?)));
        let mut probes = Vec::new();
        for (kind, name, file) in written {
            context.within(&format!("probes.{name}"), |context| {
                let (period, timeout) = (file.period.value, file.timeout.value);
                if period == Span::ZERO {
                    context.report(file.period.at, "period: must be above 0s");
                } else if timeout == Span::ZERO || timeout > period {
                    let message =
                        format!("timeout: must be above 0s and at most the period ({period})");
                    context.report(file.timeout.at, message);
                }
                let named = file.operation.as_ref();
                let operation = named.map_or(Some(0), |name| context.operation(index, name));
                probes.extend(operation.map(|operation| Probe {
                    kind,
                    operation,
                    period,
                    initial_delay: file.initial_delay,
                    timeout,
                    failures: file.failure_threshold.0,
                    successes: file.success_threshold.0,
                    spread: file.spread,
                    aside: file.aside,
                }));
            });
        }
        probes
    }

    pub(super) fn scaling(&self, context: &mut Context<'_>) -> Option<Scaling> {
        let file = self.scaling.as_ref()?;
        let (min, max, initial) = (file.min.0, file.max.value.0, self.replicas.0);
        let unlimited = self.concurrency.0.is_none();
        let (signal, target, at, hopeless) = match &file.signal {
            SignalFile::Cpu(share) => (Signal::Cpu, share.value.0, share.at, false),
            SignalFile::Workers(share) => (Signal::Workers, share.value.0, share.at, unlimited),
            SignalFile::Queue(ratio) => (Signal::Queue, ratio.value.0, ratio.at, unlimited),
        };
        context.within("scaling", |context| {
            if !(min..=max).contains(&initial) {
                let message = format!(
                    "the service begins with {initial} `replicas`, which is not from {min} to {max}"
                );
                context.report(file.max.at, message);
            }
            if file.every.value == Span::ZERO {
                context.report(file.every.at, "every: must be above 0s");
            }
            if target <= 0.0 {
                context.report(at, "the target must be above 0");
            }
            if hopeless {
                let message = "workers are unlimited, so it never changes; give it a `concurrency`";
                context.report(at, message);
            }
        });
        Some(Scaling {
            initial,
            min,
            max,
            signal,
            target,
            tolerance: file.tolerance.0,
            every: file.every.value,
            lag: file.lag,
            cooldown: file.cooldown,
        })
    }
}
