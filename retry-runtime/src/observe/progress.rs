//! How far a batch or a plan is.

use core::mem::replace;

use crate::observe::event::{Event, EventData};
use crate::observe::report::Observe;

/// Counts what became of items or subtasks, for an observer if there is one.
pub trait Counts: Default + Send {
    /// Counts items that have a value, or subtasks that completed.
    fn done(&mut self, items: usize);

    /// Counts items or subtasks that are given up.
    fn failed(&mut self, items: usize);

    /// Tells the observer if anything has changed since it was last told. There are so many in `all`.
    fn tell(&mut self, call: &str, attempt: u32, all: usize, observe: Option<Observe<'_>>);
}

/// Counts nothing, where there is no observer.
impl Counts for () {
    #[inline]
    fn done(&mut self, _: usize) {}

    #[inline]
    fn failed(&mut self, _: usize) {}

    #[inline]
    fn tell(&mut self, _: &str, _: u32, _: usize, _: Option<Observe<'_>>) {}
}

#[derive(Clone, Copy, Debug, Default)]
pub struct Counted {
    done: usize,
    failed: usize,
    /// Done, failed and all, as they were told last.
    told: (usize, usize, usize),
}

impl Counts for Counted {
    fn done(&mut self, items: usize) {
        self.done += items;
    }

    fn failed(&mut self, items: usize) {
        self.failed += items;
    }

    fn tell(&mut self, call: &str, attempt: u32, all: usize, observe: Option<Observe<'_>>) {
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
