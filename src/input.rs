//! Finding and reading what a command is asked to work on, and everything it refers to.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use sha2::{Digest, Sha256};
use sim::scenario::{Format, Override, Places, Scenario, Settings, Source, nearest};

use crate::error::Error;
use crate::shipped::{self, Folder};

/// The name of standard input.
const STDIN: &str = "-";

/// A scenario or experiment as text, and where it was found.
#[derive(Clone, Debug)]
pub struct Input {
    /// What results are called by: the file name without suffix.
    pub name: String,
    /// What it is called in messages: its path.
    pub shown: String,
    /// Its text.
    pub text: String,
    /// What it is written in.
    pub format: Format,
    place: Place,
}

/// Where files named in a text are looked for.
#[derive(Clone, Debug)]
enum Place {
    /// In this folder.
    Disk(PathBuf),
    /// In the program, in this folder of the repository.
    Shipped(&'static str),
}

/// A scenario ready to run, with all that it was made from.
#[derive(Clone, Debug)]
pub struct Loaded {
    /// What it means.
    pub scenario: Scenario,
    /// Everything that was read, by name, with the SHA-256 of its bytes in hex. The scenario is first.
    pub files: Vec<(String, String)>,
    /// SHA-256 over all files and overrides, in hex: equal hashes mean equal worlds.
    pub hash: String,
}

impl Input {
    /// The file at `path`, or else what comes with the program under that name; `-` is standard input.
    ///
    /// # Errors
    /// [`Error::Usage`] when there is neither, the suffix is unknown, or it is not what `folder` holds; [`Error::Io`].
    pub fn open(path: &Path, folder: Folder) -> Result<Input, Error> {
        let asked = path.to_string_lossy();
        if asked == STDIN {
            let text = io::read_to_string(io::stdin()).map_err(Error::io("read", path))?;
            return Input {
                name: "stdin".into(),
                shown: "<stdin>".into(),
                text,
                // Which JSON is as well.
                format: Format::Yaml,
                place: Place::Disk(PathBuf::new()),
            }
            .of(folder);
        }
        if !path.is_file()
            && let Some((name, path, text)) =
                shipped::all(folder).find(|(name, path, _)| *name == asked || *path == asked)
        {
            let format = Format::by_suffix(path).expect("shipped files have a known suffix");
            let place = Place::Shipped(shipped::folder_of(path));
            return Ok(Input {
                name: name.into(),
                shown: path.into(),
                text: text.into(),
                format,
                place,
            });
        }
        let Some(format) = Format::by_suffix(&asked) else {
            return Err(Error::Usage(unknown(&asked, path.exists(), folder)));
        };
        let text = fs::read_to_string(path).map_err(Error::io("read", path))?;
        let stem = path.file_stem().unwrap_or(path.as_os_str());
        Input {
            name: stem.to_string_lossy().into(),
            shown: asked.into(),
            text,
            format,
            place: Place::Disk(path.parent().unwrap_or(Path::new("")).into()),
        }
        .of(folder)
    }

    /// Itself, unless it is clearly the other of scenario and experiment.
    fn of(self, folder: Folder) -> Result<Input, Error> {
        // What cannot be read is told about, with its places, when it is.
        let Ok(places) = self.places(&[]) else {
            return Ok(self);
        };
        let has = |key| places.has(&[key]);
        let experiment = has("vary") || has("measure") || has("model");
        let scenario = has("clients") || has("services");
        let shown = &self.shown;
        match folder {
            Folder::Models if experiment && !scenario => Err(Error::Usage(format!(
                "{shown} is an experiment, not a scenario: `retrystorm sweep {shown}` runs it"
            ))),
            Folder::Experiments if scenario && !experiment => Err(Error::Usage(format!(
                "{shown} is a scenario, not an experiment: `retrystorm run {shown}` runs it; an experiment names it \
                 as its `model` and says what to `vary`"
            ))),
            _ => Ok(self),
        }
    }

    /// Another input named in this one, relative to it: a model in an experiment.
    ///
    /// # Errors
    /// As [`Input::open`].
    pub fn open_named(&self, name: &str, folder: Folder) -> Result<Input, Error> {
        match &self.place {
            Place::Disk(below) if below.join(name).exists() => {
                Input::open(&below.join(name), folder)
            }
            _ => Input::open(Path::new(name.strip_prefix("../").unwrap_or(name)), folder),
        }
    }

    /// The values of each policy in effect with `overrides`, and where they come from.
    ///
    /// # Errors
    /// [`Error::Scenario`] when the text cannot be read.
    pub fn settings(&self, overrides: &[Override]) -> Result<Vec<Settings>, Error> {
        sim::scenario::settings(&self.source(), overrides).map_err(Error::Scenario)
    }

    /// Where its keys are written, with `overrides`.
    ///
    /// # Errors
    /// [`Error::Scenario`] when the text cannot be read.
    pub fn places(&self, overrides: &[Override]) -> Result<Places, Error> {
        Places::of(&self.source(), overrides).map_err(Error::Scenario)
    }

    fn source(&self) -> Source<'_> {
        Source {
            name: &self.shown,
            text: &self.text,
            format: self.format,
        }
    }

    /// What it means as a scenario, with `overrides`.
    ///
    /// # Errors
    /// [`Error::Scenario`] with everything that is wrong.
    pub fn load(&self, overrides: &[Override]) -> Result<Loaded, Error> {
        let mut read = BTreeMap::new();
        let mut fetch = |name: &str| {
            let text = self.place.fetch(name)?;
            read.insert(name.to_string(), hex(Sha256::digest(text.as_bytes())));
            Ok(text)
        };
        let source = self.source();
        let scenario =
            sim::scenario::load(&source, overrides, &mut fetch).map_err(Error::Scenario)?;
        let own = (
            self.shown.clone(),
            hex(Sha256::digest(self.text.as_bytes())),
        );
        let mut hash = Sha256::new();
        // Names of data files are part of the text, so contents in the order of names say it all. The
        // path of the scenario is not: the same world elsewhere is the same world.
        hash.update(&own.1);
        read.values().for_each(|content| hash.update(content));
        for Override { path, value, .. } in overrides {
            hash.update(format!("\n{path}={value}"));
        }
        let files = std::iter::once(own).chain(read).collect();
        Ok(Loaded {
            scenario,
            files,
            hash: hex(hash.finalize()),
        })
    }
}

impl Place {
    fn fetch(&self, name: &str) -> Result<String, String> {
        match self {
            Place::Disk(folder) => {
                let path = folder.join(name);
                fs::read_to_string(&path)
                    .map_err(|e| format!("cannot read {}: {e}", path.display()))
            }
            Place::Shipped(folder) => shipped::text(&format!("{folder}/{name}"))
                .map(Into::into)
                .ok_or_else(|| format!("{folder}/{name} does not come with the program")),
        }
    }
}

fn unknown(asked: &str, exists: bool, folder: Folder) -> String {
    if Path::new(asked).is_dir() {
        return format!("{asked} is a folder: name a file in it");
    }
    if exists {
        return format!(
            "{asked}: expected a name that ends in .yaml, .yml, .toml or .json, or `-` for standard input (YAML or JSON)"
        );
    }
    let other = folder.other();
    if shipped::all(other).any(|(name, path, _)| name == asked || path == asked) {
        let (is, verb) = match other {
            Folder::Models => ("a model", "run"),
            Folder::Experiments => ("an experiment", "sweep"),
        };
        return format!("{asked} is {is}: `retrystorm {verb} {asked}` runs it");
    }
    if let Some(name) = nearest(asked, shipped::all(folder).map(|(name, ..)| name)) {
        return format!(
            "{asked}: no such file; did you mean `{name}`, which comes with the program?"
        );
    }
    // Of those that lie where the one asked for would.
    let beside = |shelf: &str| -> Vec<&str> {
        let all = shipped::all(folder).map(|(name, ..)| name);
        all.filter(|name| shipped::folder_of(name) == shelf)
            .collect()
    };
    let mut names = beside(shipped::folder_of(asked));
    if names.is_empty() {
        names = beside("");
    }
    let what = folder.name();
    if names.is_empty() {
        return format!("{asked}: no such file");
    }
    format!(
        "{asked}: no such file, and none of the {what} that come with the program: {}",
        names.join(", ")
    )
}

/// Bytes in hexadecimal.
pub(crate) fn hex(bytes: impl AsRef<[u8]>) -> String {
    bytes.as_ref().iter().fold(String::new(), |mut hex, byte| {
        write!(hex, "{byte:02x}").expect("writing to a string");
        hex
    })
}
