use std::collections::VecDeque;

use crate::breaker::window::Calls;

/// A sliding window of the last calls, by number instead of time.
#[derive(Debug)]
pub(super) struct LastCalls {
    /// One pair for each call: true if it failed, true if it was slow.
    ended: VecDeque<(bool, bool)>,
    all: Calls,
}

impl LastCalls {
    pub(super) const fn new() -> Self {
        Self {
            ended: VecDeque::new(),
            all: Calls::NONE,
        }
    }

    /// Adds calls with the same outcome, and removes the oldest ones beyond `length`. Returns the counts of the whole
    /// window.
    pub(super) fn add(&mut self, calls: Calls, length: u32) -> Calls {
        for _ in 0..calls.ended.min(length) {
            self.push(calls.failed > 0, calls.slow > 0);
            if self.all.ended > length {
                self.forget_first();
            }
        }
        self.all
    }

    fn push(&mut self, failed: bool, slow: bool) {
        self.ended.push_back((failed, slow));
        self.all.ended += 1;
        self.all.failed += u32::from(failed);
        self.all.slow += u32::from(slow);
    }

    fn forget_first(&mut self) {
        if let Some((failed, slow)) = self.ended.pop_front() {
            self.all.ended -= 1;
            self.all.failed -= u32::from(failed);
            self.all.slow -= u32::from(slow);
        }
    }
}
