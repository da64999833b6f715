use core::time::Duration;

use crate::limiter::gate::Gate;
use crate::limiter::queue::Queue;
use crate::limiter::rate_limiter::RateLimiter;
use crate::limiter::{End, LimiterChange};
use crate::time::moment::Moment;

/// Room that somebody else hands out: made by [`RateLimiter::leased`](crate::RateLimiter::leased).
#[derive(Clone, Copy, Debug)]
pub struct Leased {
    room: u64,
    /// What the first that waits costs.
    first: u64,
}

impl RateLimiter<Leased> {
    /// A limit that something else keeps account of, such as on a server for all processes of a fleet. Nothing begins
    /// until [`grant`](Self::grant) makes room.
    ///
    /// ```
    /// use retry_runtime::{Leased, RateLimiter, retry};
    ///
    /// static ROOM: RateLimiter<Leased> = RateLimiter::leased();
    ///
    /// #[retry(limiter = &ROOM, deadline = "1s")]
    /// fn read() -> std::io::Result<u32> {
    ///     Ok(42)
    /// }
    ///
    /// ROOM.grant(1);
    /// assert_eq!(read().unwrap(), 42);
    /// assert!(read().is_err());
    /// ```
    ///
    /// Attempts wait in order. One that never began gives its room back.
    pub const fn leased() -> Self {
        Self(Queue::new(Leased { room: 0, first: 0 }))
    }

    /// Makes room for that much cost, beside what is there.
    pub fn grant(&self, cost: u64) {
        if cost > 0 {
            self.0
                .with(|leased| leased.room = leased.room.saturating_add(cost));
        }
    }

    /// Takes away the room that is left, and returns how much it was.
    pub fn revoke(&self) -> u64 {
        self.0.with(|leased| core::mem::take(&mut leased.room))
    }

    /// How much room is missing for the attempts that wait: all that the first costs, and 1 for each of the others. 0
    /// if none waits.
    pub fn lacking(&self) -> u64 {
        let (leased, waiting) = self.0.look(|leased, waiting| (*leased, waiting));
        let Some(behind) = waiting.checked_sub(1) else {
            return 0;
        };
        let behind = u64::try_from(behind).unwrap_or(u64::MAX);
        let all = leased.first.saturating_add(behind);
        all.saturating_sub(leased.room)
    }
}

impl Gate for Leased {
    fn admit(&mut self, cost: u32, _: impl FnOnce() -> Moment) -> Result<u32, Option<Duration>> {
        let cost = u64::from(cost);
        match self.room.checked_sub(cost) {
            Some(left) => {
                self.room = left;
                Ok(0)
            }
            None => {
                self.first = cost;
                Err(None)
            }
        }
    }

    #[inline]
    fn ended(
        &mut self,
        cost: u32,
        _: u32,
        end: End,
        _: impl FnOnce() -> Moment,
    ) -> Option<LimiterChange> {
        if end == End::NotBegun {
            self.room = self.room.saturating_add(u64::from(cost));
        }
        None
    }
}
