//! Ctrl-C, and what `kill`, `timeout` and orchestrators send: the first signal lets what is finished be written, the second one ends
//! the program at once.

use std::process;
use std::sync::Once;
use std::sync::atomic::{AtomicBool, Ordering};

use crate::error::exit;

static ASKED: AtomicBool = AtomicBool::new(false);

/// From now on Ctrl-C is noticed by [`asked`].
pub fn listen() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        // Without a handler Ctrl-C just ends the program, which is no reason not to start it.
        let _ = ctrlc::set_handler(|| {
            if ASKED.swap(true, Ordering::Relaxed) {
                process::exit(i32::from(exit::INTERRUPTED));
            }
        });
    });
}

/// Whether somebody pressed Ctrl-C.
#[must_use]
pub fn asked() -> bool {
    ASKED.load(Ordering::Relaxed)
}
