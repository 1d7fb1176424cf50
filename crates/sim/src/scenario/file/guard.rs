//! What stands before the programs of a service: scripts and stores of keys, its own and those of its operations.

use super::idempotency::IdempotencyFile;
use super::script::ScriptFile;
use super::service::{OperationFile, ServiceFile};
use crate::scenario::context::Context;
use crate::scenario::effects::{Rules, least};
use crate::scenario::model::ServiceOperation;
use crate::scenario::tree::At;
use crate::scenario::written::Whole;
use crate::step::{Compiler, Instr, Pc};

/// What an operation itself says.
#[derive(Clone, Copy, Default)]
pub(super) struct Guard<'f> {
    name: &'f str,
    script: Option<&'f ScriptFile>,
    keys: Option<&'f IdempotencyFile>,
    status: Option<&'f At<Whole<200>>>,
}

impl<'f> Guard<'f> {
    pub(super) fn of(name: &'f str, operation: &'f OperationFile) -> Guard<'f> {
        Guard {
            name,
            script: operation.script.as_ref(),
            keys: operation.idempotency.as_ref(),
            status: operation.status.as_ref(),
        }
    }
}

/// Where a program begins that something stands before.
pub(super) struct Begin(Option<Pc>);

impl Begin {
    pub(super) fn before(&self, program: Pc) -> Pc {
        self.0.unwrap_or(program)
    }
}

/// All guards of one service.
pub(super) struct Guards<'f> {
    service: u32,
    name: String,
    script: Option<u32>,
    store: Option<(u32, &'f IdempotencyFile)>,
    /// Stores with what was written about them.
    stores: Vec<(u32, &'f IdempotencyFile)>,
    rules: Vec<Rules>,
}

impl<'f> Guards<'f> {
    pub(super) fn new(
        service: u32,
        file: &'f ServiceFile,
        compiler: &mut Compiler,
        context: &mut Context<'_>,
    ) -> Guards<'f> {
        let mut guards = Guards {
            service,
            name: context.names.services[service as usize].name.clone(),
            script: None,
            store: None,
            stores: Vec::new(),
            rules: Vec::new(),
        };
        guards.script = script(file.script.as_ref(), compiler, context);
        guards.store = file.idempotency.as_ref().map(|keys| {
            let name = guards.name.clone();
            (guards.store(name, keys, compiler, context), keys)
        });
        guards
    }

    fn store(
        &mut self,
        name: String,
        keys: &'f IdempotencyFile,
        compiler: &mut Compiler,
        context: &mut Context<'_>,
    ) -> u32 {
        let store = context.within("idempotency", |context| keys.mean(name, context));
        let index = compiler.store(store, keys.position);
        self.stores.push((index, keys));
        index
    }

    /// What comes before the next program.
    pub(super) fn begin(
        &mut self,
        guard: Guard<'f>,
        compiler: &mut Compiler,
        context: &mut Context<'_>,
    ) -> Begin {
        let own = guard.keys.map(|keys| {
            let name = format!("{}.{}", self.name, guard.name);
            (self.store(name, keys, compiler, context), keys)
        });
        let store = own.or(self.store);
        let status = guard.status.map_or(200, |status| {
            if status.value.0 > 299 {
                let message = format!(
                    "status: a good answer has 200 to 299, got {}",
                    status.value.0
                );
                context.report(status.at, message);
            }
            status.value.0 as u16
        });
        self.rules.push(Rules {
            script: script(guard.script, compiler, context).or(self.script),
            store: store.map(|(index, _)| index),
            status,
            ..Rules::default()
        });
        let claims = store.filter(|(_, keys)| keys.protects.is_none());
        Begin(claims.map(|(index, _)| compiler.claim(index)))
    }

    /// Once all programs of the service are known.
    pub(super) fn finish(
        mut self,
        operations: &[ServiceOperation],
        compiler: &mut Compiler,
        context: &mut Context<'_>,
    ) {
        for (index, keys) in std::mem::take(&mut self.stores) {
            let protects = keys.protected(self.service, compiler, context);
            compiler.effects().stores[index as usize].protects = protects;
        }
        for (rules, operation) in self.rules.iter_mut().zip(operations) {
            let code = compiler.code();
            rules.least = least(code, operation.entry);
            let effects = code
                .reachable(operation.entry)
                .filter_map(|instr| match instr {
                    Instr::Effect(effect) => Some(*effect),
                    _ => None,
                });
            rules.touches = effects.collect();
            rules.touches.sort_unstable();
            rules.touches.dedup();
        }
        compiler.effects().rules.push(self.rules);
    }
}

fn script(
    written: Option<&ScriptFile>,
    compiler: &mut Compiler,
    context: &mut Context<'_>,
) -> Option<u32> {
    let script = context.within("script", |context| {
        written.map(|script| script.mean(context))
    })?;
    let scripts = &mut compiler.effects().scripts;
    scripts.push(script);
    Some(scripts.len() as u32 - 1)
}
