//! `call`: calls a service under a policy and waits for the answer.

use super::{Compiler, Instr};
use crate::scenario::context::Context;
use crate::scenario::model::{CallSite, Caller, Edge};
use crate::scenario::tree::At;
use crate::scenario::written::{Whole, record};

record! {
    /// A call. A bare word is the service.
    pub(crate) struct Call [to] {
        /// The service.
        to: At<String>,
        /// Which of its operations. Default: the one that serves callers that name none.
        operation: Option<At<String>>,
        /// What to do about slow and failed attempts. Default: `none`, one attempt and no timeout.
        policy: Option<At<String>>,
        /// The way there and back. Default: the link "caller -> service" if there is one, else `default`.
        link: Option<At<String>>,
        /// Whether the program goes on when the call fails.
        optional: bool = false,
        /// How important it is, 0 most, to 255. Default: as important as the request that caused it; 0 for a
        /// client.
        priority: Option<At<Whole<0>>>,
    }
}

impl Call {
    /// Names that are not known have been reported; the call is then left out.
    pub(super) fn compile(
        &self,
        caller: Caller,
        compiler: &mut Compiler,
        context: &mut Context<'_>,
    ) {
        let service = context.service(&self.to);
        let operation = match (service, &self.operation) {
            (Some(service), Some(name)) => context.operation(service, name),
            _ => Some(0),
        };
        let policy = self
            .policy
            .as_ref()
            .map_or(Some(0), |name| context.policy(name));
        let link = match &self.link {
            Some(name) => context.link(name),
            None => service.map(|service| context.link_between(caller, service)),
        };
        let (Some(service), Some(operation), Some(policy), Some(link)) =
            (service, operation, policy, link)
        else {
            return;
        };
        let priority = self.priority.as_ref().and_then(|written| {
            let least = written.value.0;
            let class = u8::try_from(least).ok();
            if class.is_none() {
                let message = format!("must be from 0 to 255, got {least}");
                context.within("priority", |context| context.report(written.at, message));
            }
            class
        });
        let edge = compiler.edge(Edge {
            caller,
            service,
            policy,
        });
        let site = compiler.site(
            CallSite {
                edge,
                operation,
                link,
                optional: self.optional,
                priority,
            },
            self.to.at,
        );
        compiler.push(Instr::Call(site));
    }
}
