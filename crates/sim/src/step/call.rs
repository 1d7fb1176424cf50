//! `call`: calls a service under a policy and waits for the answer.

use super::coalesce::CoalesceFile;
use super::fallback::FallbackFile;
use super::{Compiler, Instr};
use crate::scenario::context::Context;
use crate::scenario::effects::{KeySent, Sends};
use crate::scenario::model::{CallSite, Caller, Edge};
use crate::scenario::tree::At;
use crate::scenario::written::{Whole, record, words};

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
        /// Which idempotency key is sent. Default: none.
        key: Option<At<KeySent>>,
        /// Whether each attempt has the same body. Default: `same`. Only with a key.
        body: Option<At<Body>>,
        /// How important it is, 0 most, to 255. Default: as important as the request that caused it; 0 for a
        /// client.
        priority: Option<At<Whole<0>>>,
        /// What there is when the call fails. Default: the program fails with it, unless it is `optional`.
        fallback: Option<Box<At<FallbackFile>>>,
        /// Calls that ask for the same thing share one that is under way. Default: none does. Only in services.
        coalesce: Option<Box<CoalesceFile>>,
    }
}

words! {
    /// Which idempotency key a call sends.
    KeySent, "Key" {
        "none" => KeySent::None, "None.";
        "per_call" => KeySent::PerCall, "A new one for each call, the same on each of its attempts.";
        "per_attempt" => KeySent::PerAttempt, "A new one on each attempt, which defeats its purpose.";
        "numbered" => KeySent::Numbered, "How many calls the calling process has begun: 1, 2, 3 …";
        "inherited" => KeySent::Inherited,
            "One made from the request that the caller works on: the same when that is retried. Only in services.";
    }
}

/// What an attempt carries.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Body {
    Same,
    Changed,
}

words! {
    /// What the attempts of a call carry.
    Body, "Body" {
        "same" => Body::Same, "All the same.";
        "changed" => Body::Changed, "Each another one, such as one with the time in it.";
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
        let laid_out = self.lay_out(self.optional, caller, compiler, context);
        if let (Some(call), Some(fallback)) = (laid_out, &self.fallback) {
            let fallback = &fallback.value;
            fallback.compile(call, self.optional, caller, compiler, context);
        }
    }

    /// Whether there is something else when it fails.
    pub(super) fn has_fallback(&self) -> bool {
        self.fallback.is_some()
    }

    /// The call alone; its site and edge. `optional`: the program goes on when it fails.
    pub(super) fn lay_out(
        &self,
        optional: bool,
        caller: Caller,
        compiler: &mut Compiler,
        context: &mut Context<'_>,
    ) -> Option<(u32, u32)> {
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
            return None;
        };
        let sends = self.sends(caller, context);
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
                optional,
                priority,
            },
            sends,
            self.to.at,
        );
        self.coalesce(site, caller, compiler, context);
        compiler.push(Instr::Call(site));
        Some((site, edge))
    }

    fn sends(&self, caller: Caller, context: &mut Context<'_>) -> Sends {
        let key = self.key.as_ref();
        if let (Some(key), Caller::Client(_)) = (key, caller)
            && key.value == KeySent::Inherited
        {
            let message = "key: a client has no request to inherit one from; write `per_call`";
            context.report(key.at, message);
        }
        let key_sent = key.map_or(KeySent::None, |key| key.value);
        if let Some(body) = &self.body
            && key_sent == KeySent::None
        {
            context.report(
                body.at,
                "body: goes with a `key`; nobody compares bodies without one",
            );
        }
        Sends {
            key: key_sent,
            says_key: key.is_some(),
            changes_body: self
                .body
                .as_ref()
                .is_some_and(|body| body.value == Body::Changed),
        }
    }
}
