//! Everything the fuzz target of the scenario language ever found worth keeping, each also with a byte changed here and there, on
//! any toolchain.
#![allow(
    clippy::disallowed_methods,
    reason = "the corpus is on disk; the ban is for the kernel"
)]

mod harness;

use std::fs;
use std::path::Path;

#[test]
fn whatever_is_written_is_read_or_refused_with_a_place() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/corpus/scenario");
    let files = fs::read_dir(folder).expect("the corpus is in the repository");
    let kept: Vec<Vec<u8>> = files
        .map(|file| fs::read(file.expect("readable").path()).expect("readable"))
        .collect();
    assert!(kept.len() >= 6);
    let mut state = 1u64;
    let mut draw = |n: usize| {
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) as usize % n
    };
    for bytes in kept {
        harness::scenario(&bytes);
        for _ in 0..150 {
            let mut changed = bytes.clone();
            for _ in 0..=draw(3) {
                let at = 1 + draw(changed.len() - 1);
                match draw(3) {
                    0 => changed[at] = b" :-{}[],'\"#\n0z.%"[draw(16)],
                    1 => drop(changed.drain(at..(at + draw(8)).min(changed.len()))),
                    _ => changed.truncate(at + 1),
                }
                if changed.len() < 2 {
                    break;
                }
            }
            harness::scenario(&changed);
        }
    }
}
