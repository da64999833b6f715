use std::time::Duration;

use retry_runtime::{AttemptOutcome, Change};

use crate::limiter::gate::{Gate, Now};
use crate::limiter::queue::Queue;
use crate::limiter::rate_limiter::RateLimiter;

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
    /// use retry_protections::{Leased, RateLimiter};
    /// use retry_runtime::retry;
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

    /// The room that is left.
    pub fn room(&self) -> u64 {
        self.0.with(|leased| leased.room)
    }

    /// Takes away the room that is left, and returns how much it was.
    pub fn revoke(&self) -> u64 {
        self.0.with(|leased| std::mem::take(&mut leased.room))
    }

    /// Takes away the room that nobody can use: nobody waits, the server's pause lasts, or the first costs more.
    /// Returns how much it was.
    pub fn revoke_unused(&self) -> u64 {
        self.0.with_ready(|leased, ready| {
            if ready == 0 || leased.room < leased.first {
                std::mem::take(&mut leased.room)
            } else {
                0
            }
        })
    }

    /// How much room is missing for the attempts that wait: all that the first costs, and 1 for each of the others. 0
    /// if none waits, or while a pause lasts that the server asked for. In the seconds after it, only those count that
    /// begin soon.
    pub fn lacking(&self) -> u64 {
        self.0.with_ready(|leased, ready| {
            let Some(behind) = ready.checked_sub(1) else {
                return 0;
            };
            let behind = u64::try_from(behind).unwrap_or(u64::MAX);
            let all = leased.first.saturating_add(behind);
            all.saturating_sub(leased.room)
        })
    }

    /// How much of what is [lacking](Self::lacking) the first needs: it begins once all of that is there.
    pub fn lacking_for_first(&self) -> u64 {
        self.0.with_ready(|leased, ready| {
            if ready == 0 {
                return 0;
            }
            leased.first.saturating_sub(leased.room)
        })
    }
}

impl Gate for Leased {
    fn admit(&mut self, cost: u32, _: impl Now) -> Result<u32, Option<Duration>> {
        let cost = u64::from(cost);
        match self.room.checked_sub(cost) {
            Some(left) => {
                self.room = left;
                // The next is not known before it asks.
                self.first = 1;
                Ok(0)
            }
            None => {
                self.first = cost;
                Err(None)
            }
        }
    }

    #[inline]
    fn ended(&mut self, cost: u32, _: u32, outcome: AttemptOutcome, _: impl Now) -> Option<Change> {
        if outcome == AttemptOutcome::NotBegun {
            self.room = self.room.saturating_add(u64::from(cost));
        }
        None
    }
}
