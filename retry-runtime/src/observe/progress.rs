//! How far a batch or a plan is.

use core::mem::replace;

use crate::observe::event::{Event, EventData};
use crate::observe::report::Observe;

/// Counts what became of items or subtasks, for an observer if there is one.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Counted {
    done: usize,
    failed: usize,
    /// Done, failed and all, as they were told last.
    told: (usize, usize, usize),
}

impl Counted {
    /// Counts items that have a value, or subtasks that completed.
    pub(crate) fn done(&mut self, items: usize) {
        self.done += items;
    }

    /// Counts items or subtasks that are given up.
    pub(crate) fn failed(&mut self, items: usize) {
        self.failed += items;
    }

    /// Tells the observer if anything has changed since it was last told. There are so many in `all`.
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
        if replace(&mut self.told, now) != now {
            let waiting = all.saturating_sub(done + failed);
            let data = EventData::Progressed {
                done,
                failed,
                waiting,
            };
            observe(&Event::new(call, attempt, data));
        }
    }
}
