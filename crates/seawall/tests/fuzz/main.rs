//! Everything the fuzz targets ever found worth keeping, and a while of drawn bytes, on any toolchain.

// The corpus is in files; the wall is around the engine, not around its tests.
#![allow(clippy::disallowed_methods)]

mod harness;

use std::fs;
use std::path::Path;

fn corpus(target: &str) -> Vec<Vec<u8>> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../../fuzz/corpus")
        .join(target);
    let files = fs::read_dir(folder).expect("the corpus is in the repository");
    files
        .map(|file| fs::read(file.expect("readable").path()).expect("readable"))
        .collect()
}

fn drawn(seed: u64, length: usize) -> Vec<u8> {
    let mut state = seed;
    let mut next = || {
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (state >> 40) as u8
    };
    (0..length).map(|_| next()).collect()
}

#[test]
fn the_engine_keeps_its_promises_under_any_input() {
    let kept = corpus("engine");
    assert!(!kept.is_empty());
    kept.iter().for_each(|bytes| harness::engine(bytes));
    for seed in 0..20_000 {
        harness::engine(&drawn(seed, 40 + (seed as usize * 7) % 400));
    }
}

#[test]
fn headers_are_read_whatever_they_are() {
    let kept = corpus("headers");
    assert!(!kept.is_empty());
    kept.iter().for_each(|bytes| harness::headers(bytes));
    for seed in 0..5_000 {
        harness::headers(&drawn(seed, (seed as usize) % 40));
    }
}
