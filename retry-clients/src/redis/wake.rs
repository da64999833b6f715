use std::sync::OnceLock;

use tokio::sync::Notify;

/// What a task that asks Redis has of a budget or a limiter, also when that is dropped: what wakes it, and what it says
/// last.
pub(super) struct Wake<T> {
    pub(super) wanted: Notify,
    last: OnceLock<T>,
}

impl<T> Default for Wake<T> {
    fn default() -> Self {
        Self {
            wanted: Notify::new(),
            last: OnceLock::new(),
        }
    }
}

impl<T: Copy> Wake<T> {
    /// Says it, of what is dropped.
    pub(super) fn leave(&self, last: T) {
        let _ = self.last.set(last);
        self.wanted.notify_one();
    }

    /// Waits for what is left. The last clone is gone a little before that is said.
    pub(super) async fn last_words(&self) -> T {
        loop {
            if let Some(last) = self.last.get() {
                return *last;
            }
            self.wanted.notified().await;
        }
    }
}
