//! What the program says when it is wrong itself.

use std::panic;

use crate::error::tell;
use crate::replicate;
use crate::report::manifest;

/// From now on a panic names version and seed, and gives the command that makes it happen again.
pub fn install(arguments: &[String]) {
    let arguments = arguments.to_vec();
    let usual = panic::take_hook();
    panic::set_hook(Box::new(move |info| {
        usual(info);
        tell(format_args!(
            "\nThis is a bug in retrystorm {}.",
            env!("CARGO_PKG_VERSION")
        ));
        tell(format_args!(
            "It happens again with:\n  {}",
            replay(&arguments, replicate::running_seed())
        ));
        tell(format_args!(
            "Please report it with the scenario, the message above and this command."
        ));
    }));
}

/// The command that runs the one replication with `seed` alone.
fn replay(arguments: &[String], seed: Option<u64>) -> String {
    let mut again: Vec<String> = Vec::new();
    let mut rest = arguments.iter();
    while let Some(argument) = rest.next() {
        let option = [
            "--seed",
            "--replications",
            "--precision",
            "--max-replications",
        ]
        .into_iter()
        .find(|o| argument.starts_with(o));
        match (seed, option) {
            (Some(_), Some(option)) => {
                // `--seed 7` takes the next word with it, `--seed=7` does not.
                if argument == option {
                    rest.next();
                }
            }
            _ => again.push(argument.clone()),
        }
    }
    if let Some(seed) = seed
        && again
            .first()
            .is_some_and(|verb| ["run", "sweep", "compare"].contains(&verb.as_str()))
    {
        again.extend([
            "--seed".into(),
            seed.to_string(),
            "--replications".into(),
            "1".into(),
        ]);
    }
    manifest::command(&again)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_command_runs_the_broken_replication_alone() {
        let arguments = [
            "run",
            "x.yaml",
            "--seed",
            "1",
            "--replications=9",
            "--jobs",
            "2",
        ]
        .map(String::from);
        assert_eq!(
            replay(&arguments, Some(5)),
            "retrystorm run x.yaml --jobs 2 --seed 5 --replications 1"
        );
        assert_eq!(replay(&arguments[..2], None), "retrystorm run x.yaml");
    }
}
