//! A budget that is easy to count.

use std::sync::atomic::{AtomicU32, Ordering::SeqCst};

use retry_runtime::Kind;
use retry_runtime::seam::RetryBudget;

/// Each retry takes one.
#[derive(Debug)]
pub struct Turns(AtomicU32);

impl Turns {
    /// Creates a number of turns.
    pub fn new(turns: u32) -> Self {
        Self(AtomicU32::new(turns))
    }

    /// Returns the number of turns left.
    pub fn left(&self) -> u32 {
        self.0.load(SeqCst)
    }
}

impl RetryBudget for Turns {
    fn withdraw(&self, _: Kind) -> bool {
        let turn = |left: u32| left.checked_sub(1);
        self.0.fetch_update(SeqCst, SeqCst, turn).is_ok()
    }

    fn refund(&self, _: Kind) {
        self.0.fetch_add(1, SeqCst);
    }
}
