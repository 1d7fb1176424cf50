//! The journal of a sweep: every run that has ended, one a line, so that an interrupted sweep goes on where
//! it stopped.
//!
//! A line is appended in one piece when its run ends and carries a check sum, so a line torn by a crash is
//! noticed and its run made again. Runs are known by the hash of their world and their seed: what is taken
//! over is what would come out again. The file is locked while a sweep writes to it, and removed when all
//! is done.

use std::collections::BTreeMap;
use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{Read as _, Seek as _, SeekFrom, Write as _};
use std::path::{Path, PathBuf};

use sha2::{Digest, Sha256};
use sim::metrics::Ended;

use super::plan::{Plan, questions};
use super::results::Run;
use crate::error::Error;
use crate::input::hex;

/// Its name in the output folder.
pub const NAME: &str = "sweep.journal";

/// An open journal.
#[derive(Debug)]
pub struct Journal {
    file: File,
    path: PathBuf,
}

/// What an earlier sweep left behind.
#[derive(Debug, Default)]
pub struct Earlier {
    runs: BTreeMap<(String, u64), Run>,
    /// Why nothing could be taken over from a journal that was there.
    pub refused: Option<&'static str>,
}

impl Earlier {
    /// A run of the world with this hash and seed.
    #[must_use]
    pub fn run(&self, hash: &str, seed: u64) -> Option<&Run> {
        self.runs.get(&(hash.to_string(), seed))
    }
}

impl Journal {
    /// Opens the journal in `folder` and reads what is there; with `fresh`, begins a new one.
    ///
    /// # Errors
    /// [`Error::Io`]; [`Error::Usage`] when another sweep is writing to it.
    pub fn open(folder: &Path, plan: &Plan, fresh: bool) -> Result<(Journal, Earlier), Error> {
        let path = folder.join(NAME);
        let mut options = OpenOptions::new();
        let file = options.read(true).append(true).create(true).open(&path);
        let file = file.map_err(Error::io("open", &path))?;
        match file.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => {
                let message = format!("another sweep is writing to {}", folder.display());
                return Err(Error::Usage(message));
            }
            // Some file systems have no locks, which is no reason not to write to them.
            Err(TryLockError::Error(_)) => {}
        }
        let mut journal = Journal { file, path };
        let text = journal.read()?;
        let header = header(plan);
        let (valid, earlier) = if fresh {
            (0, Earlier::default())
        } else {
            parse(&text, &header)
        };
        journal.cut(valid as u64)?;
        if valid == 0 {
            journal.write(&header)?;
        }
        Ok((journal, earlier))
    }

    /// Notes a run that has ended.
    ///
    /// # Errors
    /// [`Error::Io`].
    pub fn append(&mut self, hash: &str, seed: u64, run: &Run) -> Result<(), Error> {
        self.write(&line(hash, seed, run))
    }

    /// Takes the journal away: everything it holds is in the results.
    ///
    /// # Errors
    /// [`Error::Io`].
    pub fn remove(self) -> Result<(), Error> {
        fs::remove_file(&self.path).map_err(Error::io("remove", self.path))
    }

    fn read(&mut self) -> Result<Vec<u8>, Error> {
        let mut text = Vec::new();
        let read = self.file.seek(SeekFrom::Start(0));
        let read = read.and_then(|_| self.file.read_to_end(&mut text));
        read.map_err(Error::io("read", &self.path))?;
        Ok(text)
    }

    fn cut(&mut self, length: u64) -> Result<(), Error> {
        self.file
            .set_len(length)
            .map_err(Error::io("write", &self.path))
    }

    fn write(&mut self, text: &str) -> Result<(), Error> {
        self.file
            .write_all(text.as_bytes())
            .map_err(Error::io("write", &self.path))
    }
}

/// The first line: what the others can be trusted for.
fn header(plan: &Plan) -> String {
    let questions = hex(Sha256::digest(questions(&plan.experiment)));
    let version = env!("CARGO_PKG_VERSION");
    format!("retrystorm {version} journal 1 measuring {questions}\n")
}

/// World, seed, end, trajectory, values, check sum.
fn line(hash: &str, seed: u64, run: &Run) -> String {
    let values: Vec<String> = run
        .values
        .iter()
        .map(|value| value.map_or_else(String::new, |x| x.to_string()))
        .collect();
    let body = format!(
        "{hash} {seed} {} {:016x} {}",
        run.ended.name(),
        run.trajectory,
        values.join(",")
    );
    format!("{body} {}\n", check_sum(&body))
}

fn check_sum(body: &str) -> String {
    hex(&Sha256::digest(body)[..4])
}

/// How many bytes of the text are good, and what they say.
fn parse(text: &[u8], header: &str) -> (usize, Earlier) {
    let mut earlier = Earlier::default();
    if text.is_empty() {
        return (0, earlier);
    }
    if !text.starts_with(header.as_bytes()) {
        let own = header.split(" measuring").next().unwrap_or(header);
        earlier.refused = Some(if text.starts_with(own.as_bytes()) {
            "it measures something else"
        } else {
            "it is no journal of this version"
        });
        return (0, earlier);
    }
    let mut valid = header.len();
    for line in text[valid..].split_inclusive(|byte| *byte == b'\n') {
        let Some((key, run)) = std::str::from_utf8(line).ok().and_then(parse_line) else {
            break;
        };
        earlier.runs.insert(key, run);
        valid += line.len();
    }
    (valid, earlier)
}

fn parse_line(line: &str) -> Option<((String, u64), Run)> {
    let (body, sum) = line.strip_suffix('\n')?.rsplit_once(' ')?;
    if check_sum(body) != sum {
        return None;
    }
    let mut fields = body.split(' ');
    let hash = fields.next()?.to_string();
    let seed = fields.next()?.parse().ok()?;
    let word = fields.next()?;
    let ended = Ended::ALL.into_iter().find(|known| known.name() == word)?;
    let trajectory = u64::from_str_radix(fields.next()?, 16).ok()?;
    let value = |text: &str| match text {
        "" => Some(None),
        text => text.parse().ok().map(Some),
    };
    let values = fields
        .next()?
        .split(',')
        .map(value)
        .collect::<Option<_>>()?;
    let run = Run {
        ended,
        trajectory,
        values,
    };
    Some(((hash, seed), run))
}

#[cfg(test)]
mod tests {
    use super::*;

    const HEADER: &str = "retrystorm 9.9.9 journal 1 measuring abc\n";

    fn run(value: f64) -> Run {
        Run {
            ended: Ended::EventLimit,
            trajectory: 0xfeed,
            values: vec![Some(value), None, Some(0.1 + 0.2), Some(1e-300)],
        }
    }

    fn journal() -> String {
        let lines = [("aa", 7, 1.5), ("aa", 8, -0.0), ("bb", 7, f64::MAX)];
        let lines = lines.map(|(hash, seed, value)| line(hash, seed, &run(value)));
        format!("{HEADER}{}", lines.concat())
    }

    #[test]
    fn what_is_written_is_read_bit_for_bit() {
        let text = journal();
        let (valid, earlier) = parse(text.as_bytes(), HEADER);
        assert_eq!(valid, text.len());
        assert_eq!(earlier.run("bb", 7), Some(&run(f64::MAX)));
        let zero = earlier.run("aa", 8).and_then(|run| run.values[0]);
        assert_eq!(zero.map(f64::to_bits), Some((-0.0f64).to_bits()));
        assert_eq!(earlier.run("bb", 8), None);
    }

    #[test]
    fn wherever_it_is_torn_the_lines_before_are_good() {
        let text = journal();
        for cut in 0..text.len() {
            let (valid, earlier) = parse(&text.as_bytes()[..cut], HEADER);
            assert!(valid <= cut);
            let whole = text[..cut].matches('\n').count().saturating_sub(1);
            assert_eq!(earlier.runs.len(), whole, "cut at {cut}");
            if cut >= HEADER.len() {
                assert!(text[..valid].ends_with('\n'), "cut at {cut}");
            }
        }
    }

    #[test]
    fn a_line_that_was_changed_is_not_believed() {
        let text = journal().replacen("1.5", "1.6", 1);
        let (valid, earlier) = parse(text.as_bytes(), HEADER);
        assert_eq!((valid, earlier.runs.len()), (HEADER.len(), 0));
    }

    #[test]
    fn a_journal_of_something_else_is_refused() {
        let other = HEADER.replace("abc", "abd");
        assert!(parse(journal().as_bytes(), &other).1.refused.is_some());
        let older = HEADER.replace("9.9.9", "9.9.8");
        let (valid, earlier) = parse(journal().as_bytes(), &older);
        assert_eq!(valid, 0);
        assert_eq!(earlier.refused, Some("it is no journal of this version"));
        assert_eq!(parse(b"", HEADER).1.refused, None);
    }
}
