//! Files that are either there in full or not at all.

use std::fs;
use std::io::{ErrorKind, Write as _};
use std::path::{Component, Path, PathBuf};

use crate::error::Error;
use crate::plot::paint::Painted;

/// Writes `bytes` to `path`: into a neighbouring file first, which then takes the place of the old one.
///
/// # Errors
/// [`Error::Io`]; what was there before is still there then.
pub fn write(path: &Path, bytes: &[u8]) -> Result<(), Error> {
    let mut name = path.file_name().unwrap_or_default().to_os_string();
    name.push(format!(".{}.tmp", std::process::id()));
    let beside = path.with_file_name(name);
    let written = fs::File::create(&beside)
        .and_then(|mut file| file.write_all(bytes))
        .and_then(|()| fs::rename(&beside, path));
    if written.is_err() {
        // Best effort: the error that matters is the first one.
        let _ = fs::remove_file(&beside);
    }
    written.map_err(Error::io("write", path))
}

/// Makes sure that there is a folder at `path`.
///
/// # Errors
/// [`Error::Io`].
pub fn folder(path: &Path) -> Result<(), Error> {
    fs::create_dir_all(path).map_err(Error::io("create the folder", path))
}

/// What the manifest is called.
const MANIFEST: &str = "manifest.json";

/// Sees that results may go to a folder, before anything is computed: that there is none, or one that holds no file called as
/// one of `names` unless it is from an earlier run, whose manifest lies beside it.
///
/// # Errors
/// [`Error::Usage`], which says what is in the way.
pub fn may_write(path: &Path, names: &[&str]) -> Result<(), Error> {
    let shown = path.display();
    if path.exists() && !path.is_dir() {
        return Err(Error::Usage(format!(
            "{shown} is a file, and results go to a folder: choose another --out"
        )));
    }
    if path.join(MANIFEST).exists() {
        return Ok(());
    }
    match names.iter().find(|name| path.join(name).exists()) {
        None => Ok(()),
        Some(name) => Err(Error::Usage(format!(
            "{shown} has a {name} that is no result of an earlier run, as no {MANIFEST} lies beside it: \
             choose another --out, or take it away"
        ))),
    }
}

/// The files that the manifest in a folder names, as far as they lie in it.
fn files_of_the_last_time(path: &Path) -> Vec<String> {
    let manifest = fs::read_to_string(path.join(MANIFEST)).ok();
    let manifest = manifest.and_then(|text| serde_json::from_str(&text).ok());
    let files = manifest
        .as_ref()
        .and_then(|m: &serde_json::Value| m["files"].as_array());
    let names = files.into_iter().flatten().filter_map(|name| name.as_str());
    let inside = |name: &&str| {
        let mut parts = Path::new(name).components();
        parts.all(|part| matches!(part, Component::Normal(_)))
    };
    names.filter(inside).map(str::to_owned).collect()
}

/// A folder that is being filled with results.
#[derive(Debug)]
pub struct Output {
    path: PathBuf,
    names: Vec<String>,
    /// What an earlier run left there.
    before: Vec<String>,
}

impl Output {
    /// At `path`, where there is one already or not.
    ///
    /// # Errors
    /// [`Error::Io`].
    pub fn at(path: &Path) -> Result<Output, Error> {
        folder(path)?;
        Ok(Output {
            path: path.into(),
            names: Vec::new(),
            before: files_of_the_last_time(path),
        })
    }

    /// Makes sure that there is a folder below it.
    ///
    /// # Errors
    /// [`Error::Io`].
    pub fn below(&self, name: &str) -> Result<(), Error> {
        folder(&self.path.join(name))
    }

    /// Writes a file.
    ///
    /// # Errors
    /// [`Error::Io`].
    pub fn put(&mut self, name: impl Into<String>, bytes: impl AsRef<[u8]>) -> Result<(), Error> {
        let name = name.into();
        write(&self.path.join(&name), bytes.as_ref())?;
        self.names.push(name);
        Ok(())
    }

    /// Writes a picture in both of its formats.
    ///
    /// # Errors
    /// [`Error::Io`].
    pub fn picture(&mut self, name: &str, painted: &Painted) -> Result<(), Error> {
        self.put(format!("{name}.svg"), &painted.svg)?;
        self.put(format!("{name}.png"), &painted.png)
    }

    /// Takes away what an earlier run left that this one has not written anew, writes the manifest, which is told the other files,
    /// and returns the names of all. It comes last, so where it is, everything is.
    ///
    /// # Errors
    /// [`Error::Io`].
    pub fn finish(
        mut self,
        manifest: impl FnOnce(&[String]) -> String,
    ) -> Result<Vec<String>, Error> {
        let stale = self.before.iter().filter(|name| !self.names.contains(name));
        for name in stale.filter(|name| *name != MANIFEST) {
            let path = self.path.join(name);
            match fs::remove_file(&path) {
                Err(error) if error.kind() != ErrorKind::NotFound => {
                    return Err(Error::io("remove", &path)(error));
                }
                _ => {}
            }
        }
        let manifest = manifest(&self.names);
        self.put(MANIFEST, manifest)?;
        Ok(self.names)
    }
}

/// `name` as a part of a file name: its letters, digits, `.`, `_` and `-`, with `--` for whatever is between
/// them, so that names that differ stay apart.
#[must_use]
pub fn slug(name: &str) -> String {
    let kept = |c: char| c.is_alphanumeric() || "._-".contains(c);
    let words = name.split(|c| !kept(c)).map(|word| word.trim_matches('-'));
    words
        .filter(|word| !word.is_empty())
        .collect::<Vec<_>>()
        .join("--")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_replaced_and_nothing_is_left_beside_it() {
        let folder = tempfile::tempdir().expect("a folder for the test");
        let path = folder.path().join("summary.json");
        write(&path, b"old").expect("writable");
        write(&path, b"new").expect("writable");
        assert_eq!(fs::read(&path).expect("readable"), b"new");
        assert_eq!(fs::read_dir(folder.path()).expect("readable").count(), 1);
    }

    #[test]
    fn what_an_earlier_run_left_is_gone_and_what_is_not_ours_stays() {
        let folder = tempfile::tempdir().expect("a folder for the test");
        let path = folder.path();
        let there = |name: &str| path.join(name).exists();
        let run = |names: &[&str]| {
            may_write(path, &["summary.json"]).expect("nothing is in the way");
            let mut out = Output::at(path).expect("a folder");
            for name in names {
                out.put(*name, "{}").expect("writable");
            }
            let manifest = |names: &[String]| serde_json::json!({ "files": names }).to_string();
            out.finish(manifest).expect("written");
        };
        fs::write(path.join("notes.txt"), "mine").expect("writable");
        run(&["summary.json", "load.svg"]);
        run(&["summary.json", "other.svg"]);
        assert!(there("summary.json") && there("other.svg") && there("notes.txt"));
        assert!(!there("load.svg"), "it is from the first run");
        fs::remove_file(path.join(MANIFEST)).expect("it was there");
        let refused = may_write(path, &["summary.json"]).expect_err("it is not ours");
        assert!(
            refused.to_string().contains("has a summary.json"),
            "{refused}"
        );
        let file = may_write(&path.join("notes.txt"), &[]).expect_err("a file");
        assert!(file.to_string().contains("is a file"), "{file}");
    }

    #[test]
    fn what_cannot_be_written_is_named() {
        let folder = tempfile::tempdir().expect("a folder for the test");
        let error = write(&folder.path().join("none/x.csv"), b"").expect_err("no such folder");
        assert!(error.to_string().contains("x.csv"), "{error}");
        assert_eq!(error.code(), crate::error::exit::IO);
    }

    #[test]
    fn a_slug_is_safe_in_a_path() {
        assert_eq!(slug("web -> api (sdk)"), "web--api--sdk");
        assert_ne!(slug("a -> b-c (p)"), slug("a-b -> c (p)"));
        assert_eq!(slug("../etc/passwd"), "..--etc--passwd");
    }
}
