use std::fmt;
use std::future::pending;
use std::pin::pin;
use std::task::Waker;
use std::time::Duration;

use crate::call::rejected::Rejected;
use crate::limiter::waiting;
use crate::limiter::{End, Limiter, LimiterChange, Ticket, Turn};
use crate::time::moment::Moment;
use crate::time::timer::Timer;

/// An attempt's place with a limiter: in its queue, and then while it runs. Dropped before the attempt has ended, it
/// goes back to the limiter.
///
/// For loops of your own; the key `limiter` does all of it:
///
/// ```
/// use retry_runtime::{Call, Failure, Place, Policy, RateLimiter, Site, TokioTimer, Verdict};
/// # async fn post() -> Result<String, String> { Ok(String::from("hello")) }
///
/// static LIMITER: RateLimiter = RateLimiter::adaptive();
/// const POLICY: Policy = Policy::new();
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let site = Site::new(&POLICY, "model.complete");
/// let mut call = Call::new();
/// let answer = loop {
///     let mut place = Place::new(&LIMITER);
///     place.wait(TokioTimer, None).await?;
///     match post().await {
///         Ok(answer) => {
///             place.succeeded();
///             break answer;
///         }
///         Err(error) => {
///             let failure = Failure::new(&site, Verdict::TRANSIENT, &error).place(&mut place);
///             let pause = call.failed_with(failure).map_err(|_| error)?;
///             tokio::time::sleep(pause).await;
///         }
///     }
/// };
/// # assert_eq!(answer, "hello");
/// # Ok(())
/// # }
/// ```
// No bound on `L`: in expansions, an error about it appears once, where the expression is written.
#[must_use = "dropped before the attempt, it gives its place to others"]
pub struct Place<L> {
    limiter: L,
    ticket: Ticket,
    stage: Stage,
    as_limiter: fn(&L) -> &dyn Limiter,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stage {
    Waits,
    HasTurn,
    Left,
}

impl<L: Limiter> Place<L> {
    /// Takes a place at the end of the queue, and the turn if that has come already.
    #[inline]
    pub fn new(limiter: L) -> Self {
        let ticket = limiter.enter(1);
        let mut place = Self {
            limiter,
            ticket,
            stage: Stage::Waits,
            as_limiter,
        };
        place.poll(Waker::noop());
        place
    }
}

fn as_limiter<L: Limiter>(limiter: &L) -> &dyn Limiter {
    limiter
}

impl<L> Place<L> {
    /// Whether its turn has come, so that the attempt may begin.
    #[inline]
    pub fn has_turn(&self) -> bool {
        self.stage == Stage::HasTurn
    }

    /// Waits for its turn: as long as the limiter allows at most, and not beyond a deadline on the timer's clock. Where
    /// it can't come in time, that is said at once. Returns how long it waited.
    pub async fn wait(
        &mut self,
        timer: impl Timer,
        deadline: Option<Moment>,
    ) -> Result<Duration, Rejected> {
        let cancelled = pin!(pending::<()>());
        let waited = waiting::wait(self, timer, deadline, cancelled).await;
        waited.map_err(Rejected::new)
    }

    /// The same on this thread. The deadline is on the system's clock.
    pub fn wait_blocking(&mut self, deadline: Option<Moment>) -> Result<Duration, Rejected> {
        let waited = waiting::wait_blocking(self, deadline, None);
        waited.map_err(Rejected::new)
    }

    /// Tells the limiter that the attempt succeeded. [`Failure::place`](crate::Failure::place) tells it of failures.
    #[inline]
    pub fn succeeded(&mut self) -> Option<LimiterChange> {
        self.leave(End::Success)
    }

    /// Gives the place back without an attempt, and with it what it was charged.
    pub fn give_back(mut self) {
        self.leave(End::NotBegun);
    }

    /// Asks whether its turn has come.
    #[inline]
    pub(crate) fn poll(&mut self, waker: &Waker) -> Turn {
        if self.stage == Stage::HasTurn {
            return Turn::Begin;
        }
        let turn = (self.as_limiter)(&self.limiter).poll(&mut self.ticket, waker);
        if turn == Turn::Begin {
            self.stage = Stage::HasTurn;
        }
        turn
    }

    pub(crate) fn max_wait(&self) -> Option<Duration> {
        (self.as_limiter)(&self.limiter).max_wait()
    }
}

/// A place with whichever limiter.
pub(crate) trait Leave {
    /// Tells the limiter how the attempt ended, once.
    fn leave(&mut self, end: End) -> Option<LimiterChange>;
}

impl<L> Leave for Place<L> {
    #[inline]
    fn leave(&mut self, end: End) -> Option<LimiterChange> {
        if self.stage == Stage::Left {
            return None;
        }
        self.stage = Stage::Left;
        let ticket = Ticket::new(self.ticket.number(), self.ticket.cost());
        (self.as_limiter)(&self.limiter).leave(ticket, end)
    }
}

impl<L> Drop for Place<L> {
    #[inline]
    fn drop(&mut self) {
        match self.stage {
            Stage::Waits => self.leave(End::NotBegun),
            Stage::HasTurn => self.leave(End::Ignored),
            Stage::Left => None,
        };
    }
}

impl<L: fmt::Debug> fmt::Debug for Place<L> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Place")
            .field("limiter", &self.limiter)
            .field("stage", &self.stage)
            .finish_non_exhaustive()
    }
}
