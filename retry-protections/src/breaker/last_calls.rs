use std::collections::VecDeque;

use crate::breaker::window::Calls;

/// The last so many calls.
#[derive(Debug)]
pub(super) struct LastCalls {
    /// Each call: whether it failed, and whether it was slow.
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

    /// Adds calls that are all alike, and forgets what is then beyond the last `length`. Returns all.
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
