//! The program in a fresh folder.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use tempfile::TempDir;

/// A folder for one test, with the program ready to run in it.
pub(crate) struct Folder(TempDir);

impl Folder {
    /// An empty one.
    pub(crate) fn new() -> Folder {
        Folder(tempfile::tempdir().expect("a folder for the test"))
    }

    /// One that holds `small.yaml`, which breaks no promise and runs in a moment.
    pub(crate) fn with_small() -> Folder {
        let folder = Folder::new();
        folder.write("small.yaml", SMALL);
        folder
    }

    pub(crate) fn path(&self) -> &Path {
        self.0.path()
    }

    pub(crate) fn write(&self, name: &str, text: &str) {
        let path = self.path().join(name);
        fs::create_dir_all(path.parent().expect("a file is in a folder")).expect("writable");
        fs::write(path, text).expect("writable");
    }

    pub(crate) fn read(&self, name: &str) -> String {
        fs::read_to_string(self.path().join(name)).unwrap_or_else(|e| panic!("{name}: {e}"))
    }

    /// Every file below, by path from here, in order.
    pub(crate) fn files(&self) -> Vec<String> {
        let mut files = Vec::new();
        below(self.path(), &mut files);
        let strip = |p: &PathBuf| {
            p.strip_prefix(self.path())
                .expect("below")
                .display()
                .to_string()
        };
        let mut names: Vec<String> = files.iter().map(strip).collect();
        names.sort();
        names
    }

    /// The program with `arguments` (separated by blanks), in this folder.
    pub(crate) fn command(&self, arguments: &str) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_retrystorm"));
        command
            .args(arguments.split_whitespace())
            .current_dir(self.path())
            .env_remove("NO_COLOR");
        command
    }

    /// Runs the program.
    pub(crate) fn run(&self, arguments: &str) -> Ran {
        Ran::of(
            self.command(arguments)
                .output()
                .expect("the program starts"),
        )
    }
}

/// What the program did.
#[derive(Debug)]
pub(crate) struct Ran {
    pub(crate) code: i32,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

impl Ran {
    pub(crate) fn of(output: Output) -> Ran {
        Ran {
            code: output.status.code().expect("it ended by itself"),
            stdout: String::from_utf8(output.stdout).expect("text"),
            stderr: String::from_utf8(output.stderr).expect("text"),
        }
    }

    /// Itself, if it ended with `code`.
    #[track_caller]
    pub(crate) fn ended(self, code: i32) -> Ran {
        assert_eq!(self.code, code, "{self:#?}");
        self
    }
}

fn below(folder: &Path, files: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).expect("readable") {
        let path = entry.expect("readable").path();
        if path.is_dir() {
            below(&path, files);
        } else {
            files.push(path);
        }
    }
}

/// A world of twenty simulated seconds in which all goes well.
pub(crate) const SMALL: &str = "\
# A small world in which all goes well.
version: 1
title: A small world
run: { duration: 20s, window: 1s, warmup: 2s, seed: 7, replications: 2 }
clients:
  web: { instances: 4, arrivals: { poisson: 50/s }, calls: [ { to: api, policy: sdk } ] }
services:
  api: { concurrency: 4, queue: 100, work: { exponential: { mean: 10ms } } }
policies:
  sdk: { deadline: 1s, attempt_timeout: 300ms, retry: { max_attempts: 3, backoff: { exponential: { base: 50ms, max: 1s, jitter: full } } } }
faults:
  - { at: 8s, for: 2s, errors: { service: api, share: 20%, fail: unavailable } }
expect:
  - success_rate >= 90%
";
