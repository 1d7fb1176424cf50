//! What the parts of a scenario need to know of each other while their meaning is worked out.

use super::model::Caller;
use super::names::Names;
use super::problem::Problems;
use super::tree::{At, Position};
use super::written::mend;
use crate::text::Problem as Wrong;

/// Names, files and problems.
pub(crate) struct Context<'a> {
    pub(crate) names: Names,
    pub(crate) problems: Problems,
    fetch: &'a mut dyn FnMut(&str) -> Result<String, String>,
}

impl<'a> Context<'a> {
    pub(crate) fn new(
        problems: Problems,
        fetch: &'a mut dyn FnMut(&str) -> Result<String, String>,
    ) -> Self {
        Context {
            names: Names::default(),
            problems,
            fetch,
        }
    }

    pub(crate) fn report(&mut self, at: Position, message: impl Into<String>) {
        self.problems.report(at, message);
    }

    /// Runs `mean` with `key` added to the path shown in problems.
    pub(crate) fn within<T>(&mut self, key: &str, mean: impl FnOnce(&mut Self) -> T) -> T {
        self.problems.enter(key);
        let result = mean(self);
        self.problems.leave();
        result
    }

    /// The text of a file the scenario names.
    pub(crate) fn fetch(&mut self, file: &At<String>) -> Option<String> {
        (self.fetch)(&file.value)
            .map_err(|message| {
                self.problems
                    .report(file.at, format!("{}: {message}", file.value))
            })
            .ok()
    }

    /// Passes on what is wrong with a file that was fetched.
    pub(crate) fn read<T>(&mut self, file: &At<String>, read: Result<T, Vec<Wrong>>) -> Option<T> {
        let problems = &mut self.problems;
        let report = |wrong: &Wrong| problems.report(file.at, format!("{}:{wrong}", file.value));
        read.map_err(|all| all.iter().for_each(report)).ok()
    }

    /// Passes on what a checking constructor says, with the place of what it was given.
    pub(crate) fn checked<T>(&mut self, at: Position, result: Result<T, String>) -> Option<T> {
        result
            .map_err(|message| self.problems.report(at, message))
            .ok()
    }

    pub(crate) fn client(&mut self, name: &At<String>) -> Option<u32> {
        let known = self.names.clients.iter().map(String::as_str);
        find(&mut self.problems, "client", name, known)
    }

    pub(crate) fn service(&mut self, name: &At<String>) -> Option<u32> {
        let known = self
            .names
            .services
            .iter()
            .map(|service| service.name.as_str());
        find(&mut self.problems, "service", name, known)
    }

    pub(crate) fn policy(&mut self, name: &At<String>) -> Option<u32> {
        let known = self.names.policies.iter().map(String::as_str);
        find(&mut self.problems, "policy", name, known)
    }

    pub(crate) fn link(&mut self, name: &At<String>) -> Option<u32> {
        let known = self.names.links.iter().map(String::as_str);
        find(&mut self.problems, "link", name, known)
    }

    pub(crate) fn credential(&mut self, name: &At<String>) -> Option<u32> {
        let known = self.names.credentials.iter().map(String::as_str);
        find(&mut self.problems, "credential", name, known)
    }

    /// The link that calls of `caller` to `service` take unless they name one.
    pub(crate) fn link_between(&self, caller: Caller, service: u32) -> u32 {
        self.names.link_between(caller, service)
    }

    pub(crate) fn operation(&mut self, service: u32, name: &At<String>) -> Option<u32> {
        let service = &self.names.services[service as usize];
        let known = service.operations.as_ref()?.iter().map(String::as_str);
        let what = format!("operation of `{}`", service.name);
        find(&mut self.problems, &what, name, known)
    }
}

fn find<'n>(
    problems: &mut Problems,
    what: &str,
    name: &At<String>,
    mut known: impl Iterator<Item = &'n str> + Clone,
) -> Option<u32> {
    let all = known.clone();
    let found = known.position(|known| known == name.value);
    if found.is_none() {
        let message = format!(
            "no {what} is called `{}`: {}",
            name.value,
            mend(&name.value, all)
        );
        problems.report(name.at, message);
    }
    found.map(|index| index as u32)
}
