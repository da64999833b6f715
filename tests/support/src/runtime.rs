//! Runtimes of a test's own: one for each case, or several whose clocks differ.

use tokio::runtime::{Builder, Runtime};

/// Returns a runtime with its own paused clock.
pub fn paused() -> Runtime {
    Builder::new_current_thread()
        .enable_time()
        .start_paused(true)
        .build()
        .unwrap()
}
