//! Where the files of a run, sweep or comparison went: the last lines on the terminal.

use std::path::Path;

use super::style::Style;

/// The folder, and the files in it; those in folders below it are only counted.
#[must_use]
pub fn lines(folder: &Path, files: &[String], style: Style) -> [String; 2] {
    let mut named = Vec::new();
    let mut below: Vec<(&str, usize)> = Vec::new();
    for file in files {
        match file.split_once('/') {
            None => named.push(file.clone()),
            Some((name, _)) => match below.iter_mut().find(|(known, _)| *known == name) {
                Some((_, count)) => *count += 1,
                None => below.push((name, 1)),
            },
        }
    }
    named.extend(
        below
            .iter()
            .map(|(name, count)| format!("{name}/ ({count})")),
    );
    [
        format!("  {} {}/", style.dim("written to"), folder.display()),
        style.dim(&format!("  {}", named.join(" · "))),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_come_first_and_folders_are_counted() {
        let files = [
            "a.csv",
            "latency/x.hgrm",
            "plots/x.svg",
            "plots/x.png",
            "b.json",
        ];
        let printed = lines(Path::new("out"), &files.map(String::from), Style::default());
        let expected = [
            "  written to out/",
            "  a.csv · b.json · latency/ (1) · plots/ (2)",
        ];
        assert_eq!(printed, expected);
    }
}
