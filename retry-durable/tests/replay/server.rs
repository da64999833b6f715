use std::sync::atomic::{AtomicU32, Ordering::SeqCst};

use retry_runtime::Kind;
use retry_runtime::seam::RetryBudget;

/// Fails a number of times, and counts requests.
#[derive(Default)]
pub(crate) struct Server {
    failures: u32,
    pub(crate) requests: AtomicU32,
}

impl Server {
    pub(crate) fn failing(failures: u32) -> Self {
        Self {
            failures,
            ..Self::default()
        }
    }

    pub(crate) fn post(&self) -> Result<u32, String> {
        let before = self.requests.fetch_add(1, SeqCst);
        if before < self.failures {
            return Err(format!("503 number {before}"));
        }
        Ok(before)
    }
}

#[derive(Default)]
pub(crate) struct Turns(pub(crate) AtomicU32);

impl RetryBudget for Turns {
    fn withdraw(&self, _: Kind) -> bool {
        self.0.fetch_add(1, SeqCst);
        true
    }
    fn refund(&self, _: Kind) {
        self.0.fetch_sub(1, SeqCst);
    }
}

#[expect(
    clippy::ptr_arg,
    reason = "what `on` takes is a reference to the error"
)]
pub(crate) fn is_busy(error: &String) -> bool {
    error.starts_with("503")
}
