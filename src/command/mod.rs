//! One file per verb.

mod check;
mod compare;
mod completions;
mod draws;
mod list;
mod run;
mod schema;
mod sweep;
mod trace;
mod validate;

use std::io::{self, ErrorKind, Write as _};

use crate::cli::{Cli, Command};
use crate::error::Error;

/// Does what was asked for; the result is the exit code.
///
/// # Errors
/// Whatever kept it from being done.
pub fn execute(cli: &Cli, arguments: &[String]) -> Result<u8, Error> {
    match &cli.command {
        Command::Run(run) => run::run(run, cli.talk, arguments),
        Command::Sweep(sweep) => sweep::sweep(sweep, cli.talk, arguments),
        Command::Compare(compare) => compare::compare(compare, cli.talk, arguments),
        Command::Check(check) => check::check(check, cli.talk),
        Command::Validate(validate) => validate::validate(validate, cli.talk),
        Command::Trace(trace) => trace::trace(trace, cli.talk),
        Command::Draws(draws) => draws::draws(draws),
        Command::Schema { of } => schema::schema(*of),
        Command::List { format } => list::list(*format, cli.talk),
        Command::Completions { shell } => completions::completions(*shell),
    }
}

/// Prints results. A reader that has seen enough (`| head`) is no error.
fn print(text: &str) -> Result<(), Error> {
    let mut out = io::stdout().lock();
    match out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
        Err(e) if e.kind() != ErrorKind::BrokenPipe => {
            Err(Error::io("write to", "standard output")(e))
        }
        _ => Ok(()),
    }
}
