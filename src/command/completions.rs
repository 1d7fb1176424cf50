//! `retrystorm completions`.

use clap::CommandFactory;
use clap_complete::{Shell, generate};

use crate::cli::Cli;
use crate::error::{Error, exit};

pub(super) fn completions(shell: Shell) -> Result<u8, Error> {
    let mut script = Vec::new();
    generate(shell, &mut Cli::command(), "retrystorm", &mut script);
    super::print(&String::from_utf8_lossy(&script))?;
    Ok(exit::OK)
}
