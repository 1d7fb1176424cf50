//! The models and experiments that come with the program.

/// Path from the root of the repository, and text.
static FILES: &[(&str, &str)] = include!(concat!(env!("OUT_DIR"), "/shipped.rs"));

const SCENARIOS: [&str; 4] = ["yaml", "yml", "toml", "json"];

/// The folders things come in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Folder {
    /// `models/`: scenarios.
    Models,
    /// `experiments/`: what `sweep` reads.
    Experiments,
}

impl Folder {
    /// Its name in the repository.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Folder::Models => "models",
            Folder::Experiments => "experiments",
        }
    }

    /// The one of the two that it is not.
    #[must_use]
    pub const fn other(self) -> Folder {
        match self {
            Folder::Models => Folder::Experiments,
            Folder::Experiments => Folder::Models,
        }
    }
}

/// The names that can be asked for, in alphabetical order, with path and text. What lies in a folder of its own is
/// asked for with the folder's name: `incidents/NAME`. What lies in `data/` belongs to them, and is none.
pub fn all(folder: Folder) -> impl Iterator<Item = (&'static str, &'static str, &'static str)> {
    FILES.iter().filter_map(move |&(path, text)| {
        let file = path.strip_prefix(folder.name())?.strip_prefix('/')?;
        let (name, suffix) = file.rsplit_once('.')?;
        let scenario = SCENARIOS.contains(&suffix) && !name.starts_with("data/");
        scenario.then_some((name, path, text))
    })
}

/// The folder that a path from the root of the repository lies in.
#[must_use]
pub fn folder_of(path: &str) -> &str {
    path.rsplit_once('/').map_or("", |(folder, _)| folder)
}

/// Path and text of every file below a folder of the repository, in alphabetical order.
pub fn below(folder: &'static str) -> impl Iterator<Item = (&'static str, &'static str)> {
    let below = move |&&(path, _): &&(&'static str, &'static str)| path.starts_with(folder);
    FILES.iter().filter(below).copied()
}

/// The text of a file by its path from the root of the repository.
#[must_use]
pub fn text(path: &str) -> Option<&'static str> {
    FILES
        .iter()
        .find(|(known, _)| *known == path)
        .map(|(_, text)| *text)
}
