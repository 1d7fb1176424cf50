//! How the jobs of a replica share it, and what else a service does beyond workers behind a waiting room.

use super::service::ServiceFile;
use crate::scenario::context::Context;
use crate::scenario::model::{Behaviour, Sharing, SharingRule, Signal, Usl};
use crate::scenario::tree::At;
use crate::scenario::written::{Limit, choice, record};

choice! {
    /// How the jobs at work on one replica share it.
    pub(crate) enum ServeFile {
        /// Each worker works on its own.
        workers => Workers,
        /// All jobs at work go on alike, each as fast as the cores allow.
        processor_sharing => ProcessorSharing(CoresFile),
        /// The jobs that arrived last work, one on each core; the others stand still and lose nothing.
        preemptive_lifo => PreemptiveLifo(CoresFile),
        /// The most important jobs work (`priority` of the call), one on each core, among equals those that
        /// arrived first; the others stand still and lose nothing.
        preemptive_priority => PreemptivePriority(CoresFile),
    }
}

record! {
    /// How many can work at full speed at once. A bare number is `cores`.
    pub(crate) struct CoresFile [cores] {
        /// Cores of a replica. `concurrency` says how many jobs it takes on, `cores` how many of them get ahead.
        cores: Limit<1>,
    }
}

choice! {
    /// How jobs at work slow each other down.
    pub(crate) enum ContentionFile {
        /// The universal scalability law: n jobs at once take 1 + alpha (n - 1) + beta n (n - 1) times as long as
        /// one alone.
        usl => Usl(UslFile),
    }
}

record! {
    /// Both at least 0.
    pub(crate) struct UslFile {
        /// Contention: the part of the work that only one can do at a time.
        alpha: At<f64>,
        /// Coherency: what each pair of jobs costs. Above 0, throughput falls beyond some number of jobs.
        beta: At<f64>,
        /// Whether a job keeps the slowdown that it found when it began, itself counted, instead of following the number at
        /// work.
        frozen: bool = false,
    }
}

impl ServiceFile {
    /// What it does beyond workers behind a waiting room; `None` for most.
    pub(super) fn behaviour(
        &self,
        index: u32,
        context: &mut Context<'_>,
    ) -> Option<Box<Behaviour>> {
        let waiting = self.queue.waiting(self.concurrency.0.is_none(), context);
        let pauses = self.pauses(context);
        let scaling = self.scaling(context);
        let mut sharing = self.sharing(context);
        let counts_cores = scaling.is_some_and(|scaling| scaling.signal == Signal::Cpu);
        if pauses.is_some() || counts_cores {
            sharing.get_or_insert(Sharing::APART);
        }
        if let (true, Some(sharing), Some(file)) = (counts_cores, sharing, &self.scaling)
            && sharing.cores.or(self.concurrency.0).is_none()
        {
            let message = "scaling: `cpu` needs `concurrency`, or `cores` of `serve`";
            context.report(file.position, message);
        }
        let behaviour = Behaviour {
            sharing,
            rate_limit: self.limit(context),
            memory: self.memory(context),
            restart: self.restart(context),
            pauses,
            ejection: self.ejection(context),
            probes: self.probes(index, context),
            scaling,
            messages: self.messages(context),
            conflicts: self.conflicts(context),
            waiting: waiting.clone().unwrap_or_default(),
        };
        let ordinary = waiting.is_none()
            && behaviour.sharing.is_none()
            && behaviour.rate_limit.is_none()
            && behaviour.memory.is_none()
            && self.restart.is_none()
            && behaviour.ejection.is_none()
            && behaviour.probes.is_empty()
            && behaviour.scaling.is_none()
            && behaviour.messages.is_none()
            && behaviour.conflicts.is_none();
        (!ordinary).then(|| Box::new(behaviour))
    }

    fn sharing(&self, context: &mut Context<'_>) -> Option<Sharing> {
        let contention = self.contention.as_ref().map(|contention| {
            let ContentionFile::Usl(usl) = &contention.value;
            for (key, number) in [("alpha", &usl.alpha), ("beta", &usl.beta)] {
                if !(0.0..=1e6).contains(&number.value) {
                    let message = format!("must be at least 0, got {}", number.value);
                    context.within(&format!("contention.usl.{key}"), |context| {
                        context.report(number.at, message);
                    });
                }
            }
            Usl {
                alpha: usl.alpha.value,
                beta: usl.beta.value,
                frozen: usl.frozen,
            }
        });
        let (rule, cores) = match &self.serve {
            ServeFile::Workers => {
                contention?;
                (SharingRule::Alike, None)
            }
            ServeFile::ProcessorSharing(file) => (SharingRule::Alike, file.cores.0),
            ServeFile::PreemptiveLifo(file) => (SharingRule::LastFirst, file.cores.0),
            ServeFile::PreemptivePriority(file) => (SharingRule::MostImportant, file.cores.0),
        };
        if rule != SharingRule::Alike
            && let Some(contention) = &self.contention
        {
            let message =
                "goes with `workers` and `processor_sharing`, whose jobs all work at once";
            context.within("contention", |context| {
                context.report(contention.at, message)
            });
        }
        Some(Sharing {
            rule,
            cores,
            contention,
        })
    }
}
