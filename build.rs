//! Puts `models/`, `experiments/` and the reference cases into the program, so that they can be run by name
//! from anywhere.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::{env, fs, io};

fn main() -> io::Result<()> {
    let root = PathBuf::from(env::var("CARGO_MANIFEST_DIR").expect("cargo sets it"));
    let mut files = Vec::new();
    for folder in ["models", "experiments", "tests/data/reference-cases"] {
        println!("cargo::rerun-if-changed={folder}");
        if root.join(folder).is_dir() {
            collect(&root, Path::new(folder), &mut files)?;
        }
    }
    files.sort();
    let mut list = String::from("&[\n");
    for file in files {
        let name = file
            .to_str()
            .expect("shipped files have plain names")
            .replace('\\', "/");
        let path = root.join(&file);
        writeln!(list, "    ({name:?}, include_str!({path:?})),").expect("writing to a string");
    }
    list.push_str("]\n");
    let out = PathBuf::from(env::var("OUT_DIR").expect("cargo sets it"));
    fs::write(out.join("shipped.rs"), list)
}

/// Every text file below `folder`, as paths from the root.
fn collect(root: &Path, folder: &Path, files: &mut Vec<PathBuf>) -> io::Result<()> {
    const TEXT: [&str; 7] = ["yaml", "yml", "toml", "json", "csv", "hgrm", "txt"];
    for entry in fs::read_dir(root.join(folder))? {
        let path = folder.join(entry?.file_name());
        if root.join(&path).is_dir() {
            collect(root, &path, files)?;
        } else if path
            .extension()
            .is_some_and(|e| TEXT.iter().any(|t| e == *t))
        {
            files.push(path);
        }
    }
    Ok(())
}
