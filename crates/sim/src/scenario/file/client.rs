//! The `clients` block.

use seawall::Span;

use super::arrivals::ArrivalsFile;
use super::law::LawFile;
use crate::law::Law;
use crate::scenario::context::Context;
use crate::scenario::model::{Caller, Client, ClientOperation, Source};
use crate::scenario::problem::Problems;
use crate::scenario::tree::{At, Node, Value};
use crate::scenario::written::mend;
use crate::scenario::written::{Defs, Several, Table, Tried, Weight, Whole, Written, record};
use crate::step::{Block, Call, Compiler, Step};

record! {
    /// A population of callers: processes that each have their own budget, breaker and bulkhead.
    pub(crate) struct ClientFile {
        /// Processes.
        instances: Whole<1> = 1,
        /// When work arrives from outside; each arrival goes to a random instance and runs the program
        /// once.
        arrivals: Option<Tried<ArrivalsFile>>,
        /// Instead of arrivals: what each instance does again and again.
        r#loop: Option<Tried<Programs>>,
        /// With `loop`: when each instance begins. By default all at once, at 0s.
        start: Option<At<LawFile>>,
        /// Short for a program of nothing but calls, one after the other.
        calls: Option<Tried<Several<Call>>>,
        /// What is done for each arrival: a list of steps, or such a list for each operation.
        program: Option<Tried<Programs>>,
        /// How often each operation is what is done; one is drawn by weight each time.
        operations: Table<Weight>,
    }
}

/// A program, or one for each operation.
#[derive(Clone, Debug)]
pub(crate) enum Programs {
    One(Block),
    Each(At<Table<Block>>),
}

impl Written for Programs {
    fn decode(node: &Node, problems: &mut Problems) -> Option<Self> {
        match node.value {
            Value::Map(_) => At::decode(node, problems).map(Programs::Each),
            _ => Block::decode(node, problems).map(Programs::One),
        }
    }

    fn schema(defs: &mut Defs) -> serde_json::Value {
        let (list, each) = (Block::list_schema(defs), Table::<Block>::schema(defs));
        serde_json::json!({ "anyOf": [list, each] })
    }
}

impl ClientFile {
    pub(crate) fn mean(
        &self,
        index: u32,
        compiler: &mut Compiler,
        context: &mut Context<'_>,
    ) -> Client {
        Client {
            name: context.names.clients[index as usize].clone(),
            instances: self.instances.0,
            source: self.source(context),
            operations: self.operations(Caller::Client(index), compiler, context),
        }
    }

    fn source(&self, context: &mut Context<'_>) -> Source {
        let at_once = Source::Loop {
            start: Law::Constant(Span::ZERO),
        };
        if let (Some(start), None) = (&self.start, &self.r#loop) {
            context.report(
                start.at,
                "`start` goes with `loop`; arrivals start by themselves",
            );
        }
        match (&self.arrivals, &self.r#loop) {
            (Some(Tried(arrivals)), None) => {
                let mean = |arrivals: &ArrivalsFile| {
                    context.within("arrivals", |context| arrivals.mean(context))
                };
                arrivals
                    .as_ref()
                    .and_then(mean)
                    .map_or(at_once, Source::Open)
            }
            (None, Some(_)) => {
                let start = self
                    .start
                    .as_ref()
                    .and_then(|start| start.value.mean(context));
                start.map_or(at_once, |start| Source::Loop { start })
            }
            (Some(_), Some(_)) => {
                let message = "`arrivals` or `loop`: write only one of the two";
                context.report(self.position, message);
                at_once
            }
            (None, None) => {
                context.report(self.position, "never calls: `arrivals` or `loop` is needed");
                at_once
            }
        }
    }

    /// What is done, from whichever of the three keys is written; `None` if none of them can be read.
    fn programs(&self, context: &mut Context<'_>) -> Option<Programs> {
        let steps = |calls: &Several<Call>| {
            Programs::One(Block(calls.0.iter().cloned().map(Step::Call).collect()))
        };
        let calls = self
            .calls
            .as_ref()
            .map(|Tried(calls)| calls.as_ref().map(steps));
        let written =
            [&self.program, &self.r#loop].map(|key| key.as_ref().map(|Tried(p)| p.clone()));
        let mut written = written.into_iter().chain([calls]).flatten();
        match (written.next(), written.next()) {
            (Some(programs), None) => programs,
            (Some(_), Some(_)) => {
                let message = "`calls`, `program` or `loop`: write only one of the three";
                context.report(self.position, message);
                None
            }
            (None, _) => {
                // Without arrivals and loop, that it never calls has been said already.
                if self.arrivals.is_some() {
                    let message = "does nothing: `calls` or `program` is needed";
                    context.report(self.position, message);
                }
                None
            }
        }
    }

    fn operations(
        &self,
        caller: Caller,
        compiler: &mut Compiler,
        context: &mut Context<'_>,
    ) -> Vec<ClientOperation> {
        let block = match self.programs(context) {
            Some(Programs::One(block)) => block,
            Some(Programs::Each(table)) => return self.each(caller, &table, compiler, context),
            None => return Vec::new(),
        };
        if let Some(entry) = self.operations.0.first() {
            let message =
                "there is only one program; `operations` goes with `program: { name: [ … ] }`";
            context.report(entry.name.at, message);
        }
        let entry = compiler.program(caller, &block.0, context);
        vec![ClientOperation {
            name: "default".into(),
            weight: 1.0,
            entry,
        }]
    }

    /// One program per operation, drawn by the weights.
    fn each(
        &self,
        caller: Caller,
        table: &At<Table<Block>>,
        compiler: &mut Compiler,
        context: &mut Context<'_>,
    ) -> Vec<ClientOperation> {
        let programs = &table.value.0;
        let names = programs.iter().map(|entry| entry.name.value.as_str());
        for entry in &self.operations.0 {
            if !names.clone().any(|name| name == entry.name.value) {
                let hint = mend(&entry.name.value, names.clone());
                let message = format!("no program is called `{}`: {hint}", entry.name.value);
                context.report(entry.name.at, message);
            }
        }
        let weights = self.weights(table, context);
        let mut operations = Vec::new();
        for (entry, weight) in programs.iter().zip(weights) {
            let Some(block) = &entry.value else { continue };
            let entry_point = context.within(&format!("program.{}", entry.name.value), |context| {
                compiler.program(caller, &block.0, context)
            });
            let name = entry.name.value.clone();
            operations.push(ClientOperation {
                name,
                weight,
                entry: entry_point,
            });
        }
        operations
    }

    /// The weight of each program, all summing to 1.
    fn weights(&self, table: &At<Table<Block>>, context: &mut Context<'_>) -> Vec<f64> {
        let programs = &table.value.0;
        if programs.len() == 1 && self.operations.0.is_empty() {
            return vec![1.0];
        }
        let mut weights = Vec::new();
        for program in programs {
            let written = self
                .operations
                .0
                .iter()
                .find(|e| e.name.value == program.name.value);
            match written {
                Some(entry) => weights.extend(entry.value),
                None => {
                    let message = format!("`operations` gives `{}` no weight", program.name.value);
                    context.report(program.name.at, message);
                }
            }
        }
        let at = self
            .operations
            .0
            .first()
            .map_or(table.at, |entry| entry.name.at);
        let complete = weights.len() == programs.len();
        if complete {
            Weight::parts(&weights, at, context)
        } else {
            vec![0.0; programs.len()]
        }
    }
}
