use std::mem;
use std::time::Duration;

use retry_runtime::seam::{AttemptOutcome, Change};

use crate::limiter::gate::{Gate, Now};
use crate::limiter::queue::{Queue, State};
use crate::limiter::rate_limiter::RateLimiter;

/// A limit that other code manages: created by [`RateLimiter::leased`](crate::RateLimiter::leased).
#[derive(Clone, Copy, Debug)]
pub struct Leased {
    room: u64,
    /// The cost of the first attempt that waits.
    first: u64,
}

impl RateLimiter<Leased> {
    /// A limit that other code manages, for example for all processes of a fleet. No attempt starts until
    /// [`grant`](Self::grant) makes room.
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
    /// Attempts wait in order. An attempt that was admitted but never started returns its room.
    pub const fn leased() -> Self {
        Self(Queue::new(Leased { room: 0, first: 0 }))
    }

    /// Adds room for this much cost.
    pub fn grant(&self, cost: u64) {
        if cost > 0 {
            self.0
                .with(|leased| leased.room = leased.room.saturating_add(cost));
        }
    }

    /// The room that is left.
    pub fn room(&self) -> u64 {
        self.0.lock().gate.room
    }

    /// Removes the room that is left. Returns its amount.
    pub fn revoke(&self) -> u64 {
        mem::take(&mut self.0.lock().gate.room)
    }

    /// Removes the room that is left if no attempt can use it: no attempt waits, a pause requested by the server is not
    /// over, or the first attempt costs more. Returns the amount removed.
    pub fn revoke_unused(&self) -> u64 {
        let mut state = self.0.lock();
        let (first, _) = needed_room(&state);
        if 0 < first && first <= state.gate.room {
            return 0;
        }
        mem::take(&mut state.gate.room)
    }

    /// The room that is missing for the waiting attempts: the cost of the first, and 1 for each of the others. 0 if no
    /// attempt waits, or during a pause requested by the server. In the seconds after the pause, only attempts that may
    /// start soon count.
    pub fn lacking(&self) -> u64 {
        let state = self.0.lock();
        let (first, behind) = needed_room(&state);
        first.saturating_add(behind).saturating_sub(state.gate.room)
    }

    /// The part of the [lacking](Self::lacking) room that the first attempt needs. That attempt starts once all of it
    /// is granted.
    pub fn lacking_for_first(&self) -> u64 {
        let state = self.0.lock();
        needed_room(&state).0.saturating_sub(state.gate.room)
    }
}

/// The room that the first waiting attempt needs if it may start now, and 1 for each of the others.
fn needed_room(state: &State<Leased>) -> (u64, u64) {
    let ready = u64::try_from(state.ready()).unwrap_or(u64::MAX);
    (ready.min(1) * state.gate.first, ready.saturating_sub(1))
}

impl Gate for Leased {
    fn admit(&mut self, cost: u32, _: impl Now) -> Result<u32, Option<Duration>> {
        let cost = u64::from(cost);
        match self.room.checked_sub(cost) {
            Some(left) => {
                self.room = left;
                // The cost of the next attempt is not known until it is polled.
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
    fn leave(&mut self, cost: u32, _: u32, outcome: AttemptOutcome, _: impl Now) -> Option<Change> {
        if outcome == AttemptOutcome::NotBegun {
            self.room = self.room.saturating_add(u64::from(cost));
        }
        None
    }
}
