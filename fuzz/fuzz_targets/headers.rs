#![no_main]

#[path = "../../crates/seawall/tests/fuzz/harness.rs"]
#[allow(dead_code)]
mod harness;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| harness::headers(bytes));
