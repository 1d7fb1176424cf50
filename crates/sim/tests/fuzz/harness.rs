//! What is true of the scenario language whatever is written. Used by the fuzz target and by the replay of its corpus.

use sim::scenario::{Format, Source, load};

/// Reads the bytes as a scenario in the format that the first of them names, and what is accepted once more.
///
/// # Panics
/// When reading does, when a problem has no place, or when what was accepted is not accepted again.
pub(crate) fn scenario(bytes: &[u8]) {
    let Some((&first, text)) = bytes.split_first() else {
        return;
    };
    let Ok(text) = std::str::from_utf8(text) else {
        return;
    };
    let format = match first {
        b'y' => Format::Yaml,
        b't' => Format::Toml,
        b'j' => Format::Json,
        _ => return,
    };
    let source = Source {
        name: "fuzz",
        text,
        format,
    };
    let nothing = &mut |path: &str| Err(format!("{path}: no files here"));
    match load(&source, &[], nothing) {
        Ok(scenario) => {
            let again = load(&source, &[], nothing).expect("what was accepted is accepted again");
            assert_eq!(scenario.policies, again.policies);
        }
        Err(problems) => {
            let told = problems.to_string();
            assert!(told.lines().all(|line| line.starts_with("fuzz:")), "{told}");
        }
    }
}
