use std::time::Duration;

use crate::limiter::{End, LimiterChange};
use crate::time::moment::Moment;

/// What a limiter goes by: data that is told the time, behind a queue that takes care of the order, of wakers, and of
/// pauses that servers ask for.
pub(crate) trait Gate {
    /// Whether attempts that waited for a pause to end begin one after another by themselves. Otherwise the queue lets them
    /// go again slowly.
    const HAS_PACE: bool = false;

    /// Lets an attempt begin now, and charges it. Returns a stamp of its own, to know later what was in force when it
    /// began; or for how long it has to wait, `None` until another attempt ends. Asked again, it may say something else.
    fn admit(&mut self, cost: u32, now: impl FnOnce() -> Moment) -> Result<u32, Option<Duration>>;

    /// Tells how an attempt ended that it let begin, with its cost and its stamp. Called exactly once for each.
    fn ended(
        &mut self,
        cost: u32,
        stamp: u32,
        end: End,
        now: impl FnOnce() -> Moment,
    ) -> Option<LimiterChange>;
}
