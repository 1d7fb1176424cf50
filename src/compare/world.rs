//! Which worlds are compared: several scenarios, or one scenario and variants of it.

use std::path::PathBuf;

use sim::scenario::Override;

use crate::error::Error;
use crate::input::{Input, Loaded};
use crate::plot::theme;
use crate::shipped::Folder;

/// More worlds than this cannot be told apart in a plot.
pub const WORLDS_MAX: usize = theme::SERIES.len();

/// One of the worlds that are compared.
#[derive(Clone, Debug)]
pub struct World {
    /// What it is called in reports.
    pub name: String,
    /// Its scenario and what that was made from.
    pub loaded: Loaded,
    /// What was changed in its file.
    pub overrides: Vec<Override>,
}

/// The worlds that were asked for; the first is what the others are compared with.
///
/// `files` are paths or names of models that come with the program; each of `with` makes a variant of the one file,
/// `[NAME: ]PATH=VALUE[; PATH=VALUE]…`; `overrides` hold in all worlds.
///
/// # Errors
/// [`Error::Usage`] when there is nothing to compare, or worlds that cannot be compared; what is wrong with
/// a scenario.
pub fn worlds(
    files: &[PathBuf],
    with: &[String],
    overrides: &[Override],
) -> Result<Vec<World>, Error> {
    let wrong = |words: String| Err(Error::Usage(words));
    if files.len() > 1 && !with.is_empty() {
        return wrong("--with makes variants of one scenario; name only one".into());
    }
    if files.len() + with.len() < 2 {
        return wrong(format!(
            "{0} alone has nothing to be compared with; name another scenario, or a variant: --with PATH=VALUE",
            files
                .first()
                .map_or("one scenario".into(), |f| f.display().to_string()),
        ));
    }
    if files.len() + with.len() > WORLDS_MAX {
        return wrong(format!(
            "{} worlds are too many to compare at once; at most {WORLDS_MAX}, or `retrystorm sweep` for a grid of them",
            files.len() + with.len()
        ));
    }
    let inputs: Vec<Input> = files
        .iter()
        .map(|file| Input::open(file, Folder::Models))
        .collect::<Result<_, _>>()?;
    let mut worlds = Vec::new();
    for input in &inputs {
        // Files of the same name in two folders go by their paths.
        let twins = inputs.iter().filter(|other| label(other) == label(input));
        let name = if twins.count() > 1 {
            input.shown.as_str()
        } else {
            label(input)
        };
        worlds.push(world(input, name, overrides.to_vec())?);
    }
    for text in with {
        let (name, changes) = variant(text)?;
        let all = overrides.iter().cloned().chain(changes).collect();
        worlds.push(world(&inputs[0], &name, all)?);
    }
    comparable(&worlds)?;
    Ok(worlds)
}

fn world(input: &Input, name: &str, overrides: Vec<Override>) -> Result<World, Error> {
    Ok(World {
        name: name.into(),
        loaded: input.load(&overrides)?,
        overrides,
    })
}

/// What tells a world from others in a few letters: its name without the folder.
fn label(input: &Input) -> &str {
    input.name.rsplit('/').next().unwrap_or(&input.name)
}

/// `[NAME: ]PATH=VALUE[; PATH=VALUE]…`: the name of a variant and what it changes.
fn variant(text: &str) -> Result<(String, Vec<Override>), Error> {
    // A path has neither colon nor blank, so a colon and a blank before the first `=` end a name.
    let paths_end = text.find('=').unwrap_or(text.len());
    let (name, changes) = match text[..paths_end].split_once(": ") {
        Some((name, _)) => (name.trim().to_string(), &text[name.len() + 2..]),
        None => (text.trim().to_string(), text),
    };
    let changes = changes
        .split(';')
        .filter(|change| !change.trim().is_empty());
    let parse = |change: &str| {
        Override::parse(change.trim())
            .map_err(|problem| Error::Usage(format!("--with {text}: {problem}")))
    };
    let changes = changes.map(parse).collect::<Result<Vec<_>, _>>()?;
    if changes.is_empty() || name.is_empty() {
        return Err(Error::Usage(format!(
            "--with {text}: expected NAME: PATH=VALUE, or PATH=VALUE alone"
        )));
    }
    Ok((name, changes))
}

/// Figures of worlds that are measured over different times do not compare, and names must tell worlds apart.
fn comparable(worlds: &[World]) -> Result<(), Error> {
    let first = &worlds[0];
    for (i, world) in worlds.iter().enumerate() {
        if worlds[..i].iter().any(|other| other.name == world.name) {
            return Err(Error::Usage(format!(
                "two worlds are called {}",
                world.name
            )));
        }
        let (one, other) = (&first.loaded.scenario.run, &world.loaded.scenario.run);
        for (key, a, b) in [
            ("duration", one.duration, other.duration),
            ("warmup", one.warmup, other.warmup),
        ] {
            let detected = key == "warmup" && one.detect_warmup && other.detect_warmup;
            if a != b && !detected {
                return Err(Error::Usage(format!(
                    "{} has a {key} of {a}, {} one of {b}; to compare them over the same time: --set run.{key}={a}",
                    first.name, world.name
                )));
            }
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(files: &[&str], with: &[&str]) -> Result<Vec<String>, String> {
        let files: Vec<PathBuf> = files.iter().map(PathBuf::from).collect();
        let with: Vec<String> = with.iter().map(|w| (*w).to_string()).collect();
        worlds(&files, &with, &[])
            .map(|worlds| worlds.into_iter().map(|w| w.name).collect())
            .map_err(|e| e.to_string())
    }

    #[test]
    fn worlds_are_files_or_variants_of_one_file() {
        assert_eq!(
            names(&["metastable", "metastable-budget"], &[]),
            Ok(vec!["metastable".into(), "metastable-budget".into()])
        );
        let with = [
            "no retries: policies.sdk.retry.max_attempts=1; run.seed=7",
            "run.drain=2s",
        ];
        assert_eq!(
            names(&["metastable"], &with),
            Ok(vec![
                "metastable".into(),
                "no retries".into(),
                "run.drain=2s".into()
            ])
        );
    }

    #[test]
    fn what_cannot_be_compared_is_refused_with_the_mend() {
        for (files, with, words) in [
            (&["metastable"][..], &[][..], "--with PATH=VALUE"),
            (&["metastable", "mm1"], &["run.drain=2s"], "name only one"),
            (&["metastable"], &["a: run.drain"], "expected path=value"),
            (
                &["metastable"],
                &["run.duration=400s"],
                "--set run.duration=",
            ),
            (&["metastable", "metastable"], &[], "two worlds are called"),
            (&["metastable"; 8], &[], "too many"),
        ] {
            let said = names(files, with).expect_err(words);
            assert!(said.contains(words), "{said}");
        }
    }
}
