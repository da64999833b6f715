//! Runtimes of a test's own: one for each case, or several whose clocks differ.

use tokio::runtime::{Builder, Runtime};

/// With a paused clock of its own.
pub fn paused() -> Runtime {
    Builder::new_current_thread()
        .enable_time()
        .start_paused(true)
        .build()
        .unwrap()
}
