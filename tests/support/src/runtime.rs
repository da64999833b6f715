//! Runtimes for a single test: one for each case, or several with different clocks.

use tokio::runtime::{Builder, Runtime};

/// Returns a runtime with its own paused clock.
pub fn paused() -> Runtime {
    Builder::new_current_thread()
        .enable_time()
        .start_paused(true)
        .build()
        .unwrap()
}
