//! The progress of a batch or a plan.

use std::mem::replace;

use retry_runtime::macro_support::Job;
use retry_runtime::{EventData, chain::IntoChain};

/// Counts completed and failed items or subtasks.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Progress {
    done: usize,
    failed: usize,
    /// The last reported numbers: done, failed, total.
    reported: (usize, usize, usize),
}

impl Progress {
    /// Adds items that have a value, or subtasks that completed.
    pub(crate) fn add_done(&mut self, items: usize) {
        self.done += items;
    }

    /// Adds items or subtasks that are given up.
    pub(crate) fn add_failed(&mut self, items: usize) {
        self.failed += items;
    }

    /// Reports to the job's observer if anything has changed since the last report. `all` is the total number.
    pub(crate) fn report(&mut self, job: &mut Job<'_, impl IntoChain>, round: u32, all: usize) {
        let Self { done, failed, .. } = *self;
        let now = (done, failed, all);
        if replace(&mut self.reported, now) != now {
            let waiting = all.saturating_sub(done + failed);
            let data = EventData::Progressed {
                done,
                failed,
                waiting,
            };
            job.observe(round, data);
        }
    }
}
