#![no_main]

#[path = "../../crates/sim/tests/fuzz/harness.rs"]
mod harness;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| harness::file(bytes));
