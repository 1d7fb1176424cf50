//! `retrystorm list`.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use crate::cli::{Format, Talk};
use crate::error::{Error, exit};
use crate::report::csv;
use crate::report::style::Style;
use crate::report::table::{Align, Table};
use crate::shipped::{self, Folder};

struct Entry {
    folder: Folder,
    /// Its heading: the folder of the repository it lies in.
    under: &'static str,
    name: &'static str,
    path: &'static str,
    title: String,
}

pub(super) fn list(format: Format, talk: Talk) -> Result<u8, Error> {
    let entries: Vec<Entry> = [Folder::Models, Folder::Experiments]
        .into_iter()
        .flat_map(entries)
        .collect();
    let text = match format {
        Format::Text => text(&entries, Style::of_stdout(talk.no_color)),
        Format::Json => {
            let list: Vec<Value> = entries
                .iter()
                .map(|e| json!({ "kind": e.kind(), "name": e.name, "path": e.path, "title": e.title }))
                .collect();
            serde_json::to_string_pretty(&list).expect("keys are strings") + "\n"
        }
        Format::Csv => {
            let mut table = csv::Table::new(["kind", "name", "path", "title"]);
            for e in &entries {
                table.row([e.kind(), e.name, e.path, &e.title].map(String::from));
            }
            table.finish()
        }
    };
    super::print(&text)?;
    Ok(exit::OK)
}

fn entries(folder: Folder) -> impl Iterator<Item = Entry> {
    shipped::all(folder).map(move |(name, path, text)| Entry {
        folder,
        under: shipped::folder_of(path),
        name,
        path,
        title: headline(text),
    })
}

/// The first sentence of the comment that a file begins with.
fn headline(text: &str) -> String {
    let comment = text
        .lines()
        .skip_while(|line| line.starts_with("# yaml-language-server") || line.trim() == "#")
        .map_while(|line| line.strip_prefix('#'))
        .map(str::trim)
        .take_while(|line| !line.is_empty());
    let words = comment.collect::<Vec<_>>().join(" ");
    match words.split_once(". ") {
        Some((sentence, _)) => format!("{sentence}."),
        None => words,
    }
}

fn text(entries: &[Entry], style: Style) -> String {
    let mut out = String::new();
    for (folder, verb) in [(Folder::Models, "run"), (Folder::Experiments, "sweep")] {
        let here = || entries.iter().filter(|e| e.folder == folder);
        // What lies in a folder below comes after what does not.
        let headings: BTreeSet<&str> = here().map(|e| e.under).collect();
        for heading in headings {
            let mut table = Table::new([("", Align::Left), ("", Align::Left)]);
            for entry in here().filter(|e| e.under == heading) {
                table.row([entry.name.into(), entry.title.clone()]);
            }
            let head = format!("{heading}: retrystorm {verb} NAME");
            out += &format!("{}\n", style.bold(&head));
            table.lines()[1..]
                .iter()
                .for_each(|line| out += &format!("  {line}\n"));
            out.push('\n');
        }
    }
    out.trim_end().to_string() + "\n"
}

impl Entry {
    fn kind(&self) -> &'static str {
        match self.folder {
            Folder::Models => "model",
            Folder::Experiments => "experiment",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_headline_is_the_first_sentence_of_the_comment() {
        let text = "# yaml-language-server: $schema=../schema.json\n# Retries keep a service\n# down. It was healthy before.\n#\n# More.\nversion: 1\n";
        assert_eq!(headline(text), "Retries keep a service down.");
        assert_eq!(headline("version: 1"), "");
    }
}
