//! `retrystorm`: see `retrystorm --help`.

use std::env;
use std::process::ExitCode;

use clap::Parser;
use retrystorm::cli::Cli;
use retrystorm::error::{Error, tell};
use retrystorm::report::style::Style;
use retrystorm::{bug, command};

fn main() -> ExitCode {
    let arguments: Vec<String> = env::args_os()
        .skip(1)
        .map(|a| a.to_string_lossy().into_owned())
        .collect();
    bug::install(&arguments);
    let cli = Cli::parse();
    match command::execute(&cli, &arguments) {
        Ok(code) => ExitCode::from(code),
        Err(error) => {
            let red = Style::of_stderr(cli.talk.no_color).bad("error:");
            match &error {
                // Each line begins with file:line:col, as editors expect.
                Error::Scenario(problems) => {
                    let n = problems.len();
                    tell(format_args!(
                        "{problems}\n{red} {n} problem{}",
                        if n == 1 { "" } else { "s" }
                    ));
                }
                _ => tell(format_args!("{red} {error}")),
            }
            ExitCode::from(error.code())
        }
    }
}
