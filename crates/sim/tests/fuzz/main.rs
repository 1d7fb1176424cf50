//! Everything the fuzz targets of scenarios and of the files they name ever found worth keeping, each also with a byte changed here and there, on
//! any toolchain.
#![allow(
    clippy::disallowed_methods,
    reason = "the corpus is on disk; the ban is for the kernel"
)]

mod harness;

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

/// All that is kept for a target.
fn corpus(target: &str) -> Vec<Vec<u8>> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/corpus");
    let files = fs::read_dir(folder.join(target)).expect("the corpus is in the repository");
    files
        .map(|file| fs::read(file.expect("readable").path()).expect("readable"))
        .collect()
}

/// Tries each text as it is, and `times` with a few changes made of `spice`; its first bytes, `kept` of them, stay.
fn replay(texts: &[Vec<u8>], kept: usize, times: usize, spice: &[u8], try_out: fn(&[u8])) {
    let mut state = 1u64;
    let mut draw = |n: usize| {
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) as usize % n
    };
    for bytes in texts {
        try_out(bytes);
        for _ in 0..times {
            let mut changed = bytes.clone();
            for _ in 0..=draw(3) {
                let at = kept + draw(changed.len() - kept);
                match draw(3) {
                    0 => changed[at] = spice[draw(spice.len())],
                    1 => drop(changed.drain(at..(at + draw(8)).min(changed.len()))),
                    _ => changed.truncate(at + 1),
                }
                if changed.len() <= kept {
                    break;
                }
            }
            try_out(&changed);
        }
    }
}

#[test]
fn whatever_is_written_is_read_or_refused_with_a_place() {
    let texts = corpus("scenario");
    assert!(texts.len() >= 6);
    replay(&texts, 1, 150, b" :-{}[],'\"#\n0z.%", harness::scenario);
}

#[test]
fn whatever_is_in_a_file_is_read_or_refused_with_a_place() {
    let texts = corpus("files");
    let kinds = texts.iter().map(|text| text[0]);
    assert_eq!(
        kinds.collect::<BTreeSet<u8>>(),
        b"chrt".iter().copied().collect()
    );
    replay(&texts, 2, 1500, b" ,;\"#\n\t0-9.+e:TZ|", harness::file);
}
