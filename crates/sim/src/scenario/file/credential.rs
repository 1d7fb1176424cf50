//! The `credentials` block.

use seawall::{Failure, FailureKind, Phase, Span};

use super::ScenarioFile;
use super::failure::FailureFile;
use super::law::LawFile;
use crate::law::Law;
use crate::scenario::context::Context;
use crate::scenario::credential::{Credential, Credentials, Refresh};
use crate::scenario::model::{Caller, Link};
use crate::scenario::tree::{At, Position};
use crate::scenario::written::{record, words};
use crate::step::{Call, Compiler, Step};

record! {
    /// A token that calls over links with this `credential` need. A service of the scenario issues it; each calling
    /// process keeps its own.
    pub(crate) struct CredentialFile {
        /// The service that issues it.
        from: At<String>,
        /// Which of its operations. Default: the one that serves callers that name none.
        operation: Option<At<String>>,
        /// What to do about slow and failed requests for one. Default: `none`.
        policy: Option<At<String>>,
        /// The way there and back. Default: as for any call to that service.
        link: Option<At<String>>,
        /// How long one is good for.
        lifetime: LawFile,
        /// A new one is asked for so long before the old one ends, while that is still used.
        refresh_margin: At<Span> = "0s",
        /// Whether a process asks for one at a time, and everybody waits for that; otherwise each attempt that needs one asks
        /// for itself.
        single_flight: bool = true,
        /// Which callers share one.
        per: At<Holder> = "process",
        /// What attempts get that need one when there is none. A request for one that was refused for good
        /// (`permission_denied`, `invalid`) is passed on as it is. The phase is `credential`.
        fail: FailureFile = "unavailable",
        /// Whether an attempt whose token is rejected (`unauthenticated`) gets a new one and is sent once more.
        replay: bool = true,
    }
}

/// Which callers share a token.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Holder {
    Process,
    Client,
}

words! {
    /// Which callers share a token.
    Holder, "Holder" {
        "process" => Holder::Process, "All calls of a process.";
        "client" => Holder::Client, "The calls of a process on behalf of one client: a token for each.";
    }
}

impl CredentialFile {
    fn mean(&self, name: &str, context: &mut Context<'_>) -> Credential {
        let lifetime = context.within("lifetime", |context| self.lifetime.mean(context));
        if let Some(Law::Constant(lifetime)) = lifetime
            && self.refresh_margin.value >= lifetime
        {
            let message = format!(
                "refresh_margin: must be below the lifetime ({lifetime}), or each call asks for another"
            );
            context.report(self.refresh_margin.at, message);
        }
        Credential {
            name: name.into(),
            lifetime: lifetime.unwrap_or(Law::Constant(Span::ZERO)),
            refresh_margin: self.refresh_margin.value,
            single_flight: self.single_flight,
            per_client: self.per.value == Holder::Client,
            fail: Failure {
                phase: self.fail.phase.unwrap_or(Phase::Credential),
                ..self.fail.mean()
            },
            replay: self.replay,
        }
    }

    /// The call that asks for one.
    fn call(&self, position: Position) -> Step {
        Step::Call(Call {
            position,
            to: self.from.clone(),
            operation: self.operation.clone(),
            policy: self.policy.clone(),
            link: self.link.clone(),
            optional: false,
            key: None,
            body: None,
            priority: None,
            fallback: None,
            coalesce: None,
        })
    }
}

/// All credentials, with a program for each caller that needs one.
pub(crate) fn credentials(
    file: &ScenarioFile,
    links: &[Link],
    compiler: &mut Compiler,
    context: &mut Context<'_>,
) -> Credentials {
    let mut all = Credentials::default();
    let needed = |site_link: u32| {
        let passage = links.get(site_link as usize)?.passage.as_ref()?;
        passage.credential
    };
    // Those of refreshes come behind them.
    let sites = compiler.callers();
    all.sites = vec![None; sites.len()];
    for (index, entry) in (0u32..).zip(&file.credentials.0) {
        let Some(written) = &entry.value else {
            continue;
        };
        let path = format!("credentials.{}", entry.name.value);
        context.within(&path, |context| {
            let credential = written.mean(&entry.name.value, context);
            all.all.push(credential);
            let takes = |link: u32| needed(link) == Some(index);
            if !sites.iter().any(|&(_, link)| takes(link)) {
                let message = "no call needs it; write its name as `credential` of a link";
                context.report(entry.name.at, message);
                // Whether what it names exists is looked at all the same.
                context.service(&written.from);
                return;
            }
            let own = |&(caller, link): &(Caller, u32)| {
                takes(link) && matches!(caller, Caller::Service(_))
            };
            if written.per.value == Holder::Client && !sites.iter().any(own) {
                let message = "per: a client calls on its own behalf only; write `process`";
                context.report(written.per.at, message);
            }
            for (site, &(caller, link)) in sites.iter().enumerate() {
                if !takes(link) {
                    continue;
                }
                let known = all.refreshes.iter();
                let mut known = (0u32..).zip(known);
                let known = known.find(|(_, r)| (r.credential, r.caller) == (index, caller));
                let refresh = match known {
                    Some((known, _)) => known,
                    None => {
                        let call = written.call(written.from.at);
                        let entry_point = compiler.program(caller, &[call], context);
                        let Some(own) = compiler.callers().len().checked_sub(1) else {
                            continue;
                        };
                        let (_, way) = compiler.callers()[own];
                        if own < sites.len() {
                            continue; // it names what is not there
                        }
                        if needed(way).is_some() {
                            let message = "asking for it goes over a link that needs a credential itself; \
                                           write a `link` without one";
                            context.report(written.from.at, message);
                        }
                        all.refreshes.push(Refresh {
                            credential: index,
                            caller,
                            site: own as u32,
                            entry: entry_point,
                        });
                        all.refreshes.len() as u32 - 1
                    }
                };
                all.sites[site] = Some(refresh);
            }
        });
    }
    all
}

/// Whether a refused request for a token is the caller's own fault: nothing will be better next time.
pub(crate) const fn is_for_good(kind: FailureKind) -> bool {
    matches!(kind, FailureKind::PermissionDenied | FailureKind::Invalid)
}
