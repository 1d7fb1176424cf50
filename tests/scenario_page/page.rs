//! The page as text: scenarios, files beside them, tables with snippets.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

/// What the page says.
pub(crate) struct Page {
    pub(crate) bases: Vec<Base>,
    /// Files that scenarios name, by name.
    pub(crate) files: BTreeMap<String, String>,
    pub(crate) tables: Vec<Table>,
}

/// A scenario that snippets are applied to.
pub(crate) struct Base {
    pub(crate) name: String,
    pub(crate) text: String,
}

/// The keys of one definition of the schema.
pub(crate) struct Table {
    pub(crate) definition: String,
    /// The scenario next above.
    pub(crate) base: Option<usize>,
    pub(crate) rows: Vec<Row>,
}

/// A key, and what to write to see it change something.
pub(crate) struct Row {
    pub(crate) key: String,
    /// Overrides; those before the last only prepare the ground.
    pub(crate) snippet: Vec<String>,
    pub(crate) shown: Shown,
    /// Where it stands, from 1.
    pub(crate) line: usize,
}

/// Where the change shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Shown {
    /// In what a run writes.
    InFiles,
    /// In the ledger of a run that keeps one.
    InLedger,
    /// In what `retrystorm check` prints: the key is a word for people.
    InCheck,
    /// The scenario is refused: the key says whether it can be read.
    Refused,
}

impl Shown {
    /// Words that follow the snippet.
    pub(crate) fn words(self) -> &'static str {
        match self {
            Shown::InFiles => "",
            Shown::InLedger => " (the ledger shows it)",
            Shown::InCheck => " (`check` prints it)",
            Shown::Refused => " (is refused)",
        }
    }
}

impl Page {
    pub(crate) fn read(path: &str) -> Page {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(path);
        Page::of(&fs::read_to_string(path).expect("the page is there"))
    }

    pub(crate) fn of(text: &str) -> Page {
        let mut page = Page {
            bases: Vec::new(),
            files: BTreeMap::new(),
            tables: Vec::new(),
        };
        let mut table: Option<Table> = None;
        let mut lines = text.lines().enumerate();
        while let Some((number, line)) = lines.next() {
            if let Some((_, name)) = line
                .strip_prefix("```")
                .and_then(|info| info.split_once(' '))
            {
                let inside = lines
                    .by_ref()
                    .map(|(_, line)| line)
                    .take_while(|line| *line != "```");
                let text = inside.fold(String::new(), |text, line| text + line + "\n");
                if name.ends_with(".yaml") {
                    page.bases.push(Base {
                        name: name.into(),
                        text,
                    });
                } else {
                    page.files.insert(name.into(), text);
                }
            } else if let Some(mark) = line
                .strip_prefix("<!-- ")
                .and_then(|l| l.strip_suffix(" -->"))
            {
                if mark.starts_with("end of ") {
                    page.tables.extend(table.take());
                } else {
                    table = Some(Table {
                        definition: mark.into(),
                        base: page.bases.len().checked_sub(1),
                        rows: Vec::new(),
                    });
                }
            } else if let (Some(table), Some(row)) = (&mut table, row(line, number + 1)) {
                table.rows.push(row);
            }
        }
        page
    }
}

/// A row of a table, unless it is its head.
fn row(line: &str, number: usize) -> Option<Row> {
    let cells = line.strip_prefix("| `")?;
    let (key, rest) = cells.split_once('`')?;
    let last = rest
        .strip_suffix('|')?
        .trim_end()
        .rsplit("|")
        .next()?
        .trim();
    let all = [Shown::InLedger, Shown::InCheck, Shown::Refused];
    let shown = all
        .into_iter()
        .find(|shown| last.ends_with(shown.words().trim()));
    let shown = shown.unwrap_or(Shown::InFiles);
    let snippet = last.strip_suffix(shown.words().trim()).unwrap_or(last);
    Some(Row {
        key: key.into(),
        snippet: snippet
            .split('`')
            .skip(1)
            .step_by(2)
            .map(String::from)
            .collect(),
        shown,
        line: number,
    })
}
