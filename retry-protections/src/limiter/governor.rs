use std::num::NonZeroU32;
use std::sync::Arc;
use std::time::Duration;

use governor::clock::Clock;
use governor::middleware::RateLimitingMiddleware;
use governor::state::{DirectStateStore, NotKeyed};
use governor::{InsufficientCapacity, NotUntil};

use retry_runtime::seam::{AttemptOutcome, Change};

use crate::limiter::gate::{Gate, Now};
use crate::limiter::queue::Queue;
use crate::limiter::rate_limiter::RateLimiter;

type Direct<S, C, M> = Arc<governor::RateLimiter<NotKeyed, S, C, M>>;

impl<S, C, M> RateLimiter<Direct<S, C, M>>
where
    S: DirectStateStore,
    C: Clock,
    M: RateLimitingMiddleware<C::Instant, NegativeOutcome = NotUntil<C::Instant>>,
{
    /// Limits attempts with one of governor's rate limiters, which other code may share.
    ///
    /// Attempts wait in order. With governor alone, they don't: an attempt that costs ten may wait forever while others
    /// that cost one keep starting. If the server throttles with a hint, no attempt starts until the hint has passed.
    ///
    /// An attempt that costs more than governor's burst takes a whole burst. An attempt that was admitted but never
    /// started isn't refunded.
    ///
    /// ```
    /// use std::num::NonZeroU32;
    /// use std::sync::Arc;
    /// use governor::Quota;
    /// use retry_protections::RateLimiter;
    /// # use governor::clock::FakeRelativeClock;
    ///
    /// let quota = Quota::per_minute(NonZeroU32::new(60).expect("60"));
    /// # let clock = FakeRelativeClock::default();
    /// let shared = Arc::new(governor::RateLimiter::direct_with_clock(quota, clock));
    /// let limiter = RateLimiter::governor(Arc::clone(&shared));
    /// # assert_eq!(limiter.waiting(), 0);
    /// ```
    pub fn governor(limiter: Direct<S, C, M>) -> Self {
        Self(Queue::with_gate(Arc::clone(&limiter), limiter))
    }
}

impl<S, C, M> Gate for Direct<S, C, M>
where
    S: DirectStateStore,
    C: Clock,
    M: RateLimitingMiddleware<C::Instant, NegativeOutcome = NotUntil<C::Instant>>,
{
    fn admit(&mut self, cost: u32, _: impl Now) -> Result<u32, Option<Duration>> {
        let check = |cost| {
            NonZeroU32::new(cost).map_or(Ok(Ok(())), |cost| {
                let checked = self.check_n(cost)?;
                Ok(checked.map(drop))
            })
        };
        let checked = check(cost).or_else(|InsufficientCapacity(burst)| check(burst));
        match checked {
            Ok(Err(not_until)) => {
                let wait = not_until.wait_time_from(self.clock().now());
                Err(Some(wait.max(Duration::from_nanos(1))))
            }
            Ok(Ok(())) | Err(_) => Ok(0),
        }
    }

    fn leave(&mut self, _: u32, _: u32, _: AttemptOutcome, _: impl Now) -> Option<Change> {
        None
    }
}
