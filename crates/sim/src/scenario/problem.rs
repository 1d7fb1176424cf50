//! Everything that is wrong with a scenario, all at once.

use std::fmt;

use super::position::{At, Position};

/// One thing that is wrong.
#[derive(Clone, Debug, PartialEq)]
pub struct Problem {
    /// Where.
    pub at: Position,
    /// What was found, what is allowed, and where possible the mend.
    pub message: String,
}

/// All that is wrong, in the order of the text.
///
/// Shown one a line as `file:line:col: message`; what an override brought in is shown as
/// `--set path=value: message`.
#[derive(Clone, Debug, Default)]
pub struct Problems {
    sources: Vec<String>,
    list: Vec<Problem>,
    path: Vec<String>,
}

impl Problems {
    /// No problem yet with the text called `name`.
    #[must_use]
    pub fn of(name: &str) -> Self {
        Problems {
            sources: vec![on_one_line(name)],
            ..Problems::default()
        }
    }

    /// Names one more text that positions may be in; returns its number.
    pub(crate) fn source(&mut self, name: String) -> u32 {
        self.sources.push(on_one_line(&name));
        self.sources.len() as u32 - 1
    }

    /// What the text with that number is called.
    pub(crate) fn name_of(&self, number: u32) -> &str {
        self.sources.get(number as usize).map_or("", String::as_str)
    }

    /// Notes a problem. The dotted path of the keys being read goes in front of it.
    pub(crate) fn report(&mut self, at: Position, message: impl Into<String>) {
        let mut message = message.into();
        if !self.path.is_empty() {
            message = format!("{}: {message}", self.path.join("."));
        }
        let message = on_one_line(&message);
        let problem = Problem { at, message };
        // One written line can be read twice (an anchor, a policy that others extend).
        if !self.list.contains(&problem) {
            self.list.push(problem);
        }
    }

    pub(crate) fn doubled(&mut self, key: &At<String>, first: Position) {
        let Position { line, col, .. } = first;
        let message = format!(
            "the key `{}` is written twice (first at {line}:{col})",
            key.value
        );
        self.report(key.at, message);
    }

    /// Runs `read` with `key` added to the path shown in problems.
    pub(crate) fn within<T>(&mut self, key: &str, read: impl FnOnce(&mut Self) -> T) -> T {
        self.enter(key);
        let result = read(self);
        self.leave();
        result
    }

    pub(super) fn enter(&mut self, key: &str) {
        self.path.push(key.into());
    }

    pub(super) fn leave(&mut self) {
        self.path.pop();
    }

    /// Takes over the problems of `other` that are not among these: of the same text read again in other
    /// circumstances.
    pub fn absorb(&mut self, other: &Problems) {
        for problem in &other.list {
            let name = other.source_name(problem);
            let known = self.sources.iter().position(|source| source == name);
            let source = known.map_or_else(|| self.source(name.into()), |known| known as u32);
            let at = Position {
                source,
                ..problem.at
            };
            let problem = Problem {
                at,
                message: problem.message.clone(),
            };
            if !self.list.contains(&problem) {
                self.list.push(problem);
            }
        }
    }

    /// The problems sorted by place.
    #[must_use]
    pub fn sorted(mut self) -> Self {
        self.list.sort_by_key(|problem| problem.at);
        self
    }

    /// Whether nothing is wrong.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.list.is_empty()
    }

    /// How many things are wrong.
    #[must_use]
    pub fn len(&self) -> usize {
        self.list.len()
    }

    /// Each problem.
    pub fn iter(&self) -> impl Iterator<Item = &Problem> {
        self.list.iter()
    }

    /// Where `problem` is: `file:line:col`, or the override that brought it in.
    #[must_use]
    pub fn place(&self, problem: &Problem) -> String {
        let Position { line, col, .. } = problem.at;
        let name = self.source_name(problem);
        if line == 0 {
            name.into()
        } else {
            format!("{name}:{line}:{col}")
        }
    }

    fn source_name(&self, problem: &Problem) -> &str {
        self.name_of(problem.at.source)
    }
}

/// A problem is one line, whatever the keys and values it speaks of are made of: characters that would break the line, or
/// steer a terminal, are shown as they are written in a string.
fn on_one_line(text: &str) -> String {
    let mut line = String::with_capacity(text.len());
    for character in text.chars() {
        if character.is_control() {
            line.extend(character.escape_default());
        } else {
            line.push(character);
        }
    }
    line
}

impl fmt::Display for Problems {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (i, problem) in self.list.iter().enumerate() {
            let newline = if i == 0 { "" } else { "\n" };
            write!(f, "{newline}{}: {}", self.place(problem), problem.message)?;
        }
        Ok(())
    }
}

impl std::error::Error for Problems {}
