use core::task::Waker;
use core::time::Duration;

use crate::forward::forward;
use crate::limiter::state::LimiterState;
use crate::limiter::{End, Limiter, LimiterChanges, Ticket, Turn};

/// A limiter for attempts with a cost other than 1, such as the tokens that a request to a model takes.
///
/// The limiters of this crate have a method for it. Wrap others by name:
///
/// ```
/// use std::time::Duration;
/// use retry_runtime::{Limiter, Quota, RateLimiter, WithCost, retry};
///
/// static SEARCH: RateLimiter<Quota> =
///     RateLimiter::fixed(60, Duration::from_secs(1)).burst(60);
///
/// #[retry(limiter = SEARCH.cost(10))]
/// fn search_all() -> std::io::Result<u32> {
///     Ok(42)
/// }
///
/// #[retry(limiter = WithCost::new(limiter, 10))]
/// fn search(limiter: &dyn Limiter) -> std::io::Result<u32> {
///     Ok(42)
/// }
///
/// search_all().unwrap();
/// search(&SEARCH).unwrap();
/// assert!((40.0..41.0).contains(&SEARCH.available()));
/// ```
#[derive(Clone, Copy, Debug)]
pub struct WithCost<L> {
    limiter: L,
    cost: u32,
}

impl<L> WithCost<L> {
    /// This limiter, at that many times the cost. With 0, an attempt waits its turn like the others, but is charged
    /// nothing.
    #[inline]
    pub const fn new(limiter: L, cost: u32) -> Self {
        Self { limiter, cost }
    }
}

forward! {
    @held Limiter {
        fn poll(&self, ticket: &mut Ticket, waker: &Waker) -> Turn;
        fn leave(&self, ticket: Ticket, end: End) -> Option<LimiterChanges>;
        fn longest_wait(&self) -> Option<Duration>;
        fn state(&self) -> LimiterState;
        fn handles_throttling(&self) -> bool;
    }
    [] [L: Limiter] WithCost<L>, |with_cost| with_cost.limiter, {
        #[inline]
        fn enter(&self, cost: u32) -> Ticket {
            self.limiter.enter(self.cost.saturating_mul(cost))
        }
    }
}
