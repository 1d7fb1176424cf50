//! Puts the shipped models, and the files they name, into the program: WebAssembly has no file system.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::{env, fs, io};

fn main() -> io::Result<()> {
    let models =
        PathBuf::from(env::var("CARGO_MANIFEST_DIR").expect("cargo sets it")).join("../models");
    println!("cargo::rerun-if-changed={}", models.display());
    let mut list = String::from("&[\n");
    for name in files(&models, Path::new(""))? {
        let path = models.join(&name);
        writeln!(list, "    ({name:?}, include_str!({path:?})),").expect("writing to a string");
    }
    list.push_str("]\n");
    let out = PathBuf::from(env::var("OUT_DIR").expect("cargo sets it"));
    fs::write(out.join("models.rs"), list)
}

fn files(models: &Path, below: &Path) -> io::Result<Vec<PathBuf>> {
    let mut found = Vec::new();
    for entry in fs::read_dir(models.join(below))? {
        let path = below.join(entry?.file_name());
        if models.join(&path).is_dir() {
            found.extend(files(models, &path)?);
        } else {
            found.push(path);
        }
    }
    found.sort();
    Ok(found)
}
