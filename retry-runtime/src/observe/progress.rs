//! How far a batch or a plan is.

use crate::observe::event::Event;
use crate::observe::report::Observe;

/// What became of items or subtasks so far.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Progress {
    pub(crate) done: usize,
    /// Given up.
    pub(crate) failed: usize,
    /// Done, failed and all, as they were told last.
    told: (usize, usize, usize),
}

impl Progress {
    pub(crate) fn new(done: usize, failed: usize) -> Self {
        Self {
            done,
            failed,
            told: (0, 0, 0),
        }
    }

    /// Tells the observer of what changed, if anything did. There are so many in `all`.
    pub(crate) fn tell(
        &mut self,
        call: &str,
        attempt: u32,
        all: usize,
        observe: Option<Observe<'_>>,
    ) {
        let Some(observe) = observe else {
            return;
        };
        let Self { done, failed, .. } = *self;
        let now = (done, failed, all);
        if std::mem::replace(&mut self.told, now) != now {
            observe(&Event::Progressed {
                call,
                attempt,
                done,
                failed,
                waiting: all.saturating_sub(done + failed),
            });
        }
    }
}
