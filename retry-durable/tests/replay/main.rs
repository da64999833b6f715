//! Programs that end at any point, and run again with the same journal.

mod calls;
mod disk;
mod engines;
mod errors;
mod journal;
mod mutations;
mod nested;
mod restarts;
mod run;
mod server;

use std::time::Duration;

use retry_runtime::{Jitter, Policy};

const EXACT: Policy = Policy::new().jitter(Jitter::None);

const fn secs(secs: u64) -> Duration {
    Duration::from_secs(secs)
}
