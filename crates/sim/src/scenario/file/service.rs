//! The `services` block.

use seawall::Operation;

use super::conflicts::ConflictsFile;
use super::gate::ServiceRateLimitFile;
use super::guard::{Guard, Guards};
use super::idempotency::IdempotencyFile;
use super::law::LawFile;
use super::lifecycle::{MemoryFile, PausesFile, ProbesFile, RestartFile, ScalingFile};
use super::messages::MessagesFile;
use super::queue::QueueFile;
use super::script::ScriptFile;
use super::serving::{ContentionFile, ServeFile};
use crate::scenario::context::Context;
use crate::scenario::model::{Balance, Caller, Service, ServiceOperation};
use crate::scenario::tree::{At, Position};
use crate::scenario::written::{Kinds, Limit, Share, Table, Tried, Whole, record, words};
use crate::step::{Block, Compiler, Step};

record! {
    /// Something that can be called: replicas, each with workers behind a queue, and what they do for a
    /// request.
    pub(crate) struct ServiceFile {
        /// Copies, each with its own queue and workers.
        replicas: Whole<1> = 1,
        /// How an attempt finds its replica.
        balance: Balance = "round_robin",
        /// Workers per replica.
        concurrency: Limit<1> = "unlimited",
        /// The waiting room of each replica.
        queue: QueueFile,
        /// Makes it a message queue, whose workers fetch what was sent. Without: callers wait for the program.
        messages: Option<MessagesFile>,
        /// How the jobs at work on one replica share it.
        serve: ServeFile = "workers",
        /// How jobs at work on one replica slow each other down. Without: not at all.
        contention: Option<At<ContentionFile>>,
        /// Jobs fail the more often the more are at work at once. Without: not for that.
        conflicts: Option<ConflictsFile>,
        /// What bounds how many requests are let in. Without: nothing.
        rate_limit: Option<ServiceRateLimitFile>,
        /// What a replica can hold. Without: everything.
        memory: Option<MemoryFile>,
        /// What happens when a replica dies.
        restart: Option<RestartFile>,
        /// Each replica stands still now and then. Without: never.
        pauses: Option<PausesFile>,
        /// Leaves out replicas that fail. Without: none.
        outlier: Option<At<seawall::outlier::Outlier>>,
        /// With a smaller share of the replicas left, `outlier` leaves out none. Default: 50%.
        panic_threshold: Option<At<Share>>,
        /// What asks each replica how it is. Without: nobody.
        probes: Option<ProbesFile>,
        /// Replicas are added and taken away by what is measured. Without: never.
        scaling: Option<ScalingFile>,
        /// Whether a job keeps its worker while it waits for a call or a delay.
        holds_worker: bool = true,
        /// Whether a job ends when its caller has left.
        honours_cancellation: bool = false,
        /// Whether doing it twice is the same as once; for operations that do not say.
        idempotent: bool = true,
        /// Whether it may be retried at all; for operations that do not say.
        retryable: bool = true,
        /// Kinds of failure after which it may be retried, whatever the policy adds; for operations that
        /// do not say. By default the policy decides.
        retry_only: Option<Kinds>,
        /// Answers by number, for operations that have no script of their own.
        script: Option<ScriptFile>,
        /// A memory of idempotency keys, for operations that have none of their own.
        idempotency: Option<IdempotencyFile>,
        /// Short for a program of one step of work.
        work: Option<Tried<At<LawFile>>>,
        /// What it does for a request that names no operation.
        program: Option<Tried<Block>>,
        /// What it does for requests that name one. Without `work` or `program`, the first also serves
        /// those that name none.
        operations: Table<OperationFile>,
    }
}

record! {
    /// One of the things a service does.
    pub(crate) struct OperationFile {
        /// Whether doing it twice is the same as once, by nature or by a key that is sent along. Default:
        /// as the service says.
        idempotent: Option<bool>,
        /// Whether it may be retried at all. Default: as the service says.
        retryable: Option<bool>,
        /// Kinds of failure after which it may be retried, whatever the policy adds. Default: as the
        /// service says.
        retry_only: Option<Kinds>,
        /// Answers by number.
        script: Option<ScriptFile>,
        /// A memory of idempotency keys.
        idempotency: Option<IdempotencyFile>,
        /// HTTP status of a good answer, 200 to 299. Default: 200. The ledger shows it.
        status: Option<At<Whole<200>>>,
        /// Short for a program of one step of work.
        work: Option<Tried<At<LawFile>>>,
        /// What it does.
        program: Option<Tried<Block>>,
    }
}

words! {
    /// How an attempt finds its replica.
    Balance, "Balance" {
        "round_robin" => Balance::RoundRobin, "In turn.";
        "random" => Balance::Random, "Uniformly at random.";
        "least_in_flight" => Balance::LeastInFlight, "The one with the fewest jobs; ties go to the first.";
        "power_of_two" => Balance::PowerOfTwo, "The better of two drawn at random.";
    }
}

/// The operation that `work` or `program` of the service itself are.
const DEFAULT: &str = "default";

impl ServiceFile {
    /// The names of its operations, in the order of their index.
    pub(crate) fn operation_names(&self) -> Vec<String> {
        let own = self.serves_by_itself().then(|| DEFAULT.to_owned());
        let named = self
            .operations
            .0
            .iter()
            .map(|entry| entry.name.value.clone());
        own.into_iter().chain(named).collect()
    }

    fn serves_by_itself(&self) -> bool {
        self.work.is_some() || self.program.is_some()
    }

    pub(crate) fn mean(
        &self,
        index: u32,
        compiler: &mut Compiler,
        context: &mut Context<'_>,
    ) -> Service {
        let caller = Caller::Service(index);
        let mut operations = Vec::new();
        let mut guards = Guards::new(index, self, compiler, context);
        if self.serves_by_itself() {
            let steps = steps(&self.work, &self.program, self.position, context);
            let entry = guards.begin(Guard::default(), compiler, context);
            operations.push(ServiceOperation {
                name: DEFAULT.into(),
                semantics: self.semantics(None),
                entry: entry.before(compiler.program(caller, &steps, context)),
            });
        }
        for entry in &self.operations.0 {
            let Some(operation) = &entry.value else {
                continue;
            };
            if self.serves_by_itself() && entry.name.value == DEFAULT {
                let message = "`default` is what `work` or `program` of the service itself are";
                context.report(entry.name.at, message);
            }
            context.within(&format!("operations.{}", entry.name.value), |context| {
                let steps = steps(
                    &operation.work,
                    &operation.program,
                    operation.position,
                    context,
                );
                let guard = Guard::of(&entry.name.value, operation);
                let begin = guards.begin(guard, compiler, context);
                operations.push(ServiceOperation {
                    name: entry.name.value.clone(),
                    semantics: self.semantics(Some(operation)),
                    entry: begin.before(compiler.program(caller, &steps, context)),
                });
            });
        }
        guards.finish(&operations, compiler, context);
        if self.operations.0.is_empty() && !self.serves_by_itself() {
            context.report(
                self.position,
                "does nothing: `work`, `program` or `operations` is needed",
            );
        }
        Service {
            name: context.names.services[index as usize].name.clone(),
            replicas: (self.scaling.as_ref()).map_or(self.replicas.0, |file| file.max.value.0),
            balance: self.balance,
            concurrency: self.concurrency.0,
            queue: self.queue.mean(),
            holds_worker: self.holds_worker,
            honours_cancellation: self.honours_cancellation,
            operations,
            behaviour: self.behaviour(index, context),
        }
    }

    fn semantics(&self, operation: Option<&OperationFile>) -> Operation {
        let own = |said: fn(&OperationFile) -> Option<bool>| operation.and_then(said);
        let retry_only = operation
            .and_then(|operation| operation.retry_only)
            .or(self.retry_only);
        Operation {
            retryable: own(|operation| operation.retryable).unwrap_or(self.retryable),
            idempotent: own(|operation| operation.idempotent).unwrap_or(self.idempotent),
            retry_only: retry_only.map(|kinds| kinds.0),
            ..Operation::default()
        }
    }
}

/// The steps that `work` or `program` say; none where they could not be read.
fn steps(
    work: &Option<Tried<At<LawFile>>>,
    program: &Option<Tried<Block>>,
    position: Position,
    context: &mut Context<'_>,
) -> Vec<Step> {
    match (work, program) {
        (Some(Tried(work)), None) => work.iter().cloned().map(Step::Work).collect(),
        (None, Some(Tried(program))) => {
            program.as_ref().map_or(Vec::new(), |block| block.0.clone())
        }
        (Some(_), Some(_)) => {
            context.report(
                position,
                "`work` is short for a program; write only one of the two",
            );
            Vec::new()
        }
        (None, None) => {
            context.report(position, "does nothing: `work` or `program` is needed");
            Vec::new()
        }
    }
}
