//! Files that are either there in full or not at all.

use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};

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

/// A folder that is being filled with results.
#[derive(Debug)]
pub struct Output {
    path: PathBuf,
    names: Vec<String>,
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

    /// Writes the manifest, which is told the other files, and returns the names of all. It comes last, so
    /// where it is, everything is.
    ///
    /// # Errors
    /// [`Error::Io`].
    pub fn finish(
        mut self,
        manifest: impl FnOnce(&[String]) -> String,
    ) -> Result<Vec<String>, Error> {
        let manifest = manifest(&self.names);
        self.put("manifest.json", manifest)?;
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
