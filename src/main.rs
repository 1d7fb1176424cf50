//! `retrystorm`: see `retrystorm --help`.

use std::env;
use std::process::ExitCode;

use clap::Parser;
use retrystorm::cli::Cli;
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
            let style = Style::of_stderr(cli.talk.no_color);
            eprintln!("{} {error}", style.bad("error:"));
            ExitCode::from(error.code())
        }
    }
}
