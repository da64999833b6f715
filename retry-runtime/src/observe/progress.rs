//! The progress of a batch or a plan.

use core::mem::replace;

use crate::observe::{Event, EventData, Observe};

/// Counts completed and failed items or subtasks.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Progress {
    done: usize,
    failed: usize,
    /// The last reported numbers: done, failed, total.
    reported: (usize, usize, usize),
}

impl Progress {
    /// Counts items that have a value, or subtasks that completed.
    pub(crate) fn done(&mut self, items: usize) {
        self.done += items;
    }

    /// Counts items or subtasks that are given up.
    pub(crate) fn failed(&mut self, items: usize) {
        self.failed += items;
    }

    /// Reports to the observer if anything has changed since the last report. `all` is the total number.
    pub(crate) fn report(
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
        if replace(&mut self.reported, now) != now {
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
