//! Colour in a terminal, or none.

use std::env;
use std::io::{self, IsTerminal};

/// How text is dressed.
#[derive(Clone, Copy, Debug, Default)]
pub struct Style {
    colour: bool,
}

impl Style {
    /// For standard output: dressed on a terminal, unless the user does not want it.
    #[must_use]
    pub fn of_stdout(no_color: bool) -> Style {
        Style {
            colour: wanted(no_color) && (forced() || io::stdout().is_terminal()),
        }
    }

    /// For standard error.
    #[must_use]
    pub fn of_stderr(no_color: bool) -> Style {
        Style {
            colour: wanted(no_color) && (forced() || io::stderr().is_terminal()),
        }
    }

    /// What matters.
    #[must_use]
    pub fn bold(self, text: &str) -> String {
        self.dressed("1", text)
    }

    /// What may be overlooked.
    #[must_use]
    pub fn dim(self, text: &str) -> String {
        self.dressed("2", text)
    }

    /// Good news, in the green of the plots.
    #[must_use]
    pub fn good(self, text: &str) -> String {
        self.dressed("1;38;5;36", text)
    }

    /// Not so good news, in amber.
    #[must_use]
    pub fn warn(self, text: &str) -> String {
        self.dressed("1;38;5;214", text)
    }

    /// Bad news, in the vermilion of the plots.
    #[must_use]
    pub fn bad(self, text: &str) -> String {
        self.dressed("1;38;5;166", text)
    }

    /// The blue of offered load.
    #[must_use]
    pub fn offered(self, text: &str) -> String {
        self.dressed("38;5;32", text)
    }

    /// The green of goodput.
    #[must_use]
    pub fn goodput(self, text: &str) -> String {
        self.dressed("38;5;36", text)
    }

    /// The vermilion of attempts.
    #[must_use]
    pub fn attempts(self, text: &str) -> String {
        self.dressed("38;5;166", text)
    }

    fn dressed(self, code: &str, text: &str) -> String {
        if self.colour && !text.is_empty() {
            format!("\x1b[{code}m{text}\x1b[0m")
        } else {
            text.into()
        }
    }
}

/// Whether colour is wanted even where there is no terminal: CLICOLOR_FORCE (bixense.com/clicolors) is set
/// and not 0.
fn forced() -> bool {
    env::var_os("CLICOLOR_FORCE").is_some_and(|value| !value.is_empty() && value != "0")
}

/// Whether colour is wanted at all: neither the flag nor a non-empty NO_COLOR (no-color.org) is set.
#[must_use]
pub fn wanted(no_color: bool) -> bool {
    !no_color && env::var_os("NO_COLOR").is_none_or(|value| value.is_empty())
}
