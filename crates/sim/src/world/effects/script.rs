//! Answers that are decided: scripted ones, replaced ones, and what the program itself says.

use seawall::{Failure, Reply};

use super::store::State;
use super::{IN_USE, Instead, status_of};
use crate::event::Event;
use crate::metrics::{By, JobEnd};
use crate::scenario::effects::Say;
use crate::text::http_date;
use crate::world::{TaskId, World};

impl World {
    /// Has the services look whose answers are scripted.
    pub(in crate::world) fn mark_scripts(&mut self) {
        let Some(state) = &self.effects else { return };
        for (service, rules) in self.services.iter_mut().zip(&state.rules.rules) {
            if rules.iter().any(|rules| rules.script.is_some()) {
                service.has_a_guard();
            }
        }
    }

    /// A job arrives where answers are scripted. `Some`: it is answered (or never will be) without the program, and
    /// this follows.
    #[cold]
    #[inline(never)]
    pub(in crate::world) fn follow_script(&mut self, id: TaskId) -> Option<Option<Event>> {
        let state = self.effects.as_deref_mut().expect(IN_USE);
        let job = self.tasks[id].job().expect("the task is a job");
        let (service, attempt) = (job.service, job.attempt);
        let intent = state.job(id).intent;
        let operation = state.intents.get(intent)?.operation;
        let script = state.rules.of(service, operation)?.script?;
        let rules = &state.rules.scripts[script as usize];
        let number = if rules.per_call {
            u64::from(attempt) - 1
        } else {
            let seen = &mut state.scripted[script as usize];
            *seen += 1;
            *seen - 1
        };
        let last = rules.answers.len() as u64 - 1;
        if number > last && !rules.repeat_last {
            return None;
        }
        let answer = number.min(last) as u32;
        let scripted = &rules.answers[answer as usize];
        if scripted.say == Say::AsUsual {
            return None;
        }
        if scripted.program {
            state.job(id).instead = Instead::Script(script, answer);
            return None;
        }
        let Say::Answer { reply, status, .. } = scripted.say else {
            self.ended(id, JobEnd::Lost);
            self.tasks.remove(id);
            return Some(None);
        };
        let note = state.job(id);
        (note.by, note.status, note.said) = (By::Script, Some(status), true);
        note.date = Some((script, answer));
        self.ended(
            id,
            match reply {
                Reply::Ok => JobEnd::Served,
                Reply::Failed(_) => JobEnd::Faulted,
            },
        );
        Some(self.send_home(id, reply))
    }

    /// A fault will answer once the program has run.
    #[cold]
    pub(in crate::world) fn fail_after_program(&mut self, id: TaskId, failure: Failure) {
        let state = self.effects.as_deref_mut().expect(IN_USE);
        state.job(id).instead = Instead::Fault(failure);
    }

    /// The program of a job says this: what its caller gets, if that is something else. `over`: it does nothing more.
    #[inline(never)]
    pub(in crate::world) fn say(&mut self, id: TaskId, reply: Reply, over: bool) -> Reply {
        let state = self.effects.as_deref_mut().expect(IN_USE);
        let note = state.job(id);
        if std::mem::replace(&mut note.said, true) {
            if over {
                self.job_is_over(id);
            }
            return reply;
        }
        let (intent, by, instead) = (note.intent, note.by, note.instead);
        let intent = state.intents.get(intent);
        let rules = intent.and_then(|i| state.rules.of(i.service, i.operation));
        let good = rules.map_or(200, |rules| rules.status);
        if by != By::Store {
            let answer = match reply {
                Reply::Ok => State::Succeeded(good),
                Reply::Failed(failure) => State::Failed(failure),
            };
            state.finish_claim(id, self.now, answer);
        }
        let note = state.job(id);
        let mut said = reply;
        // What the store remembers is given as it was.
        if by == By::Store {
            note.status = note.status.or(status_of(reply, good));
        } else {
            note.status = status_of(reply, good);
            match instead {
                Instead::Nothing => {}
                Instead::Fault(failure) => {
                    said = Reply::Failed(failure);
                    (note.by, note.status) = (By::Fault, failure.kind.http());
                }
                Instead::Script(script, answer) => {
                    let scripted = &state.rules.scripts[script as usize].answers[answer as usize];
                    match scripted.say {
                        Say::AsUsual => {}
                        Say::Answer { reply, status, .. } => {
                            said = reply;
                            let note = &mut state.jobs[id.slot()];
                            (note.by, note.status) = (By::Script, Some(status));
                            note.date = Some((script, answer));
                        }
                        Say::Nothing => {
                            // As if the link had lost it.
                            let job = self.tasks[id].job_mut().expect("the task is a job");
                            job.caller_waits = false;
                        }
                    }
                }
            }
        }
        if over {
            self.job_is_over(id);
        }
        said
    }

    /// An answer reaches its caller, who reads it: a date by its own clock, and that a key must not be sent again.
    #[inline(never)]
    pub(in crate::world) fn hear(&mut self, id: TaskId, caller: TaskId, reply: Reply) -> Reply {
        let state = self.effects.as_deref_mut().expect(IN_USE);
        let note = state.job(id);
        let (date, refused) = (note.date, note.refused);
        let mut heard = reply;
        if let (Some((script, answer)), Reply::Failed(failure)) = (date, reply)
            && let Say::Answer {
                date: Some(header), ..
            } = &state.rules.scripts[script as usize].answers[answer as usize].say
        {
            let clock = http_date::unix_seconds(self.now);
            heard = Reply::Failed(Failure {
                retry_after: seawall::parse_retry_after(header, clock),
                ..failure
            });
        }
        state.enter_answer(id, heard, self.now);
        if refused && let Some(call) = self.tasks[caller].call.as_mut() {
            call.forbid_retries();
        }
        heard
    }
}
