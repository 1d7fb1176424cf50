//! Message queues, as written.

use seawall::Span;

use super::law::LawFile;
use super::queue::DisciplineFile;
use super::service::ServiceFile;
use crate::scenario::cache::Cache;
use crate::scenario::context::Context;
use crate::scenario::messages::{GivesBack, Groups, Messages, Receipt};
use crate::scenario::model::Balance;
use crate::scenario::tree::At;
use crate::scenario::written::{Factor, Limit, Whole, choice, record, words};

/// Groups that there is room for.
const GROUPS_MAX: u32 = 1_000_000;

record! {
    /// Makes the service a message queue with its consumers: who sends is answered once the message is kept; each free worker
    /// fetches one and runs the program with it. A bare length of time is the visibility.
    pub(crate) struct MessagesFile [visibility] {
        /// How long a message that was fetched is hidden from the others, above 0s. A consumer that takes longer shares it.
        visibility: At<Span>,
        /// Deliveries of one message at most; then it goes to the dead letters.
        max_receives: Limit<1> = "unlimited",
        /// When others see a message again that a consumer failed with.
        gives_back: GivesBackFile = "at_once",
        /// Whose end deletes a message.
        receipt: Receipt = "latest",
        /// How often a consumer at work has its message hidden for another `visibility`, above 0s and below it. Default: never.
        heartbeat: Option<At<Span>>,
        /// Messages older than this are dropped, wherever they are; above 0s. Default: none is.
        retention: Option<At<Span>>,
        /// Groups whose messages go one after the other. Default: there are none.
        groups: Option<At<GroupsFile>>,
    }
}

choice! {
    /// What a consumer does with a message that it failed with.
    pub(crate) enum GivesBackFile {
        /// Gives it back: others see it at once.
        at_once => AtOnce,
        /// Gives it back: others see it after a draw of this.
        after => After(LawFile),
        /// Nothing: others see it when its visibility ends.
        never => Never,
    }
}

words! {
    /// Whose end deletes a message.
    Receipt, "Receipt" {
        "in_time" => Receipt::InTime, "That of the consumer from which it is hidden still, as with ordered groups of SQS.";
        "latest" => Receipt::Latest, "That of the latest to fetch it, however late, as with queues of SQS without order.";
        "any" => Receipt::Any, "That of any, as with a table whose rows are deleted by number.";
    }
}

record! {
    /// Each message belongs to a group, drawn by how popular they are. While one of a group is hidden, the others of it wait,
    /// in the order in which they were sent. A bare number is `keys`.
    pub(crate) struct GroupsFile [keys] {
        /// How many groups there are.
        keys: Whole<1>,
        /// How unevenly: the n-th gets messages in proportion to 1 / n^skew. 0: all alike.
        skew: Factor = 0,
    }
}

impl ServiceFile {
    /// How its messages are kept, if it is a message queue. What does not go with that is reported.
    pub(super) fn messages(&self, context: &mut Context<'_>) -> Option<Messages> {
        let file = self.messages.as_ref()?;
        self.goes_with_messages(context);
        let visibility = file.visibility.value;
        context.within("messages", |context| {
            if visibility == Span::ZERO {
                context.report(file.visibility.at, "visibility: must be above 0s");
            }
            if let Some(heartbeat) = &file.heartbeat
                && (heartbeat.value == Span::ZERO || heartbeat.value >= visibility)
            {
                let message =
                    format!("heartbeat: must be above 0s and below the visibility ({visibility})");
                context.report(heartbeat.at, message);
            }
            if let Some(retention) = &file.retention
                && retention.value == Span::ZERO
            {
                context.report(retention.at, "retention: must be above 0s");
            }
            if let Some(groups) = &file.groups
                && groups.value.keys.0 > GROUPS_MAX
            {
                let message = format!("groups: must be at most {GROUPS_MAX}");
                context.report(groups.at, message);
            }
            let gives_back = match &file.gives_back {
                GivesBackFile::AtOnce => GivesBack::AtOnce,
                GivesBackFile::Never => GivesBack::Never,
                GivesBackFile::After(law) => {
                    GivesBack::After(context.within("gives_back.after", |c| law.mean(c))?)
                }
            };
            let groups = file.groups.as_ref().map(|groups| {
                let count = groups.value.keys.0.min(GROUPS_MAX);
                let upto = Cache::upto(count, groups.value.skew.0);
                Groups { count, upto }
            });
            Some(Messages {
                visibility,
                max_receives: file.max_receives.0,
                gives_back,
                receipt: file.receipt,
                heartbeat: file.heartbeat.as_ref().map(|at| at.value),
                retention: file.retention.as_ref().map(|at| at.value),
                groups,
            })
        })
    }

    /// Reports what means nothing where consumers fetch for themselves.
    fn goes_with_messages(&self, context: &mut Context<'_>) {
        let queue = &self.queue;
        let in_vain = [
            (
                !matches!(queue.discipline, DisciplineFile::Fifo),
                "queue.discipline",
                "messages are fetched in the order in which they can be seen; for an order of their own there are `groups`",
            ),
            (
                queue.codel.is_some(),
                "queue.codel",
                "messages are not dropped since they waited; there is `messages.retention`",
            ),
            (
                queue.max_wait.is_some(),
                "queue.max_wait",
                "who sends a message does not wait; there is `messages.retention`",
            ),
            (
                self.balance != Balance::RoundRobin,
                "balance",
                "nobody gives messages to replicas: they fetch them",
            ),
            (
                self.outlier.is_some(),
                "outlier",
                "nobody gives messages to replicas: they fetch them",
            ),
            (
                self.probes
                    .as_ref()
                    .is_some_and(|probes| probes.readiness.is_some()),
                "probes.readiness",
                "nobody gives messages to replicas: they fetch them, ready or not",
            ),
        ];
        for (_, key, why) in in_vain.into_iter().filter(|(written, ..)| *written) {
            let message = format!("{key}: does not go with `messages`: {why}");
            context.report(self.position, message);
        }
    }
}
