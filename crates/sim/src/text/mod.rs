//! Readers and writers of the files a scenario names: text in, data out.
//!
//! A reader reports everything that is wrong with a file at once, by line; the caller, who opened the
//! file, adds its path.

pub mod hgrm;
pub(crate) mod http_date;
pub mod instants;
pub mod rates;
mod rows;
mod timestamp;

use std::fmt;

/// Something wrong with a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    /// The line, from 1.
    pub line: u64,
    /// What is wrong with it.
    pub message: String,
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.line, self.message)
    }
}

/// Problems beyond this many are only counted: a file of another kind has one in every line.
const MOST: usize = 50;

/// Problems as they are found.
#[derive(Debug, Default)]
struct Problems {
    found: Vec<Problem>,
    further: u64,
}

impl Problems {
    fn add(&mut self, line: u64, message: impl Into<String>) {
        if self.found.len() < MOST {
            self.found.push(Problem {
                line,
                message: message.into(),
            });
        } else {
            self.further += 1;
        }
    }

    fn none(&self) -> bool {
        self.found.is_empty()
    }

    /// `value` if nothing was wrong.
    fn unless_any<T>(mut self, value: T) -> Result<T, Vec<Problem>> {
        if self.further > 0
            && let Some(last) = self.found.last().map(|problem| problem.line)
        {
            let message = format!("{} further problems after this line", self.further);
            self.found.push(Problem {
                line: last,
                message,
            });
        }
        if self.found.is_empty() {
            Ok(value)
        } else {
            Err(self.found)
        }
    }
}

/// A piece of a file as it may stand in a message: short and on one line.
fn quoted(text: &str) -> String {
    let mut short: String = text.chars().take(40).collect();
    if short.len() < text.len() {
        short.push('…');
    }
    format!("{short:?}")
}

#[cfg(test)]
mod tests;
