use core::fmt;
use core::task::Waker;
use core::time::Duration;

use crate::limiter::{End, Limiter, LimiterChanges, Ticket, Turn};

/// An attempt's place with a limiter: in its queue, and then while it runs. Dropping it gives it back to the limiter.
///
/// For loops of your own; the key `limiter` does all of it:
///
/// ```
/// use retry_runtime::{
///     Call, Failure, Place, Policy, RateLimiter, Site, TokioTimer, Verdict,
/// };
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
///             let failure = Failure::new(&site, Verdict::TRANSIENT, &error)
///                 .place(&mut place);
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
    /// The attempt runs, or may.
    Begun,
    Left,
}

impl<L: Limiter> Place<L> {
    /// Takes a place at the end of the queue, and its turn if that has already come.
    #[inline]
    pub fn new(limiter: L) -> Self {
        // A limiter that panics when it is asked gets its place back all the same.
        let mut place = Self {
            ticket: limiter.enter(1),
            stage: Stage::Waits,
            limiter,
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
    /// Whether the turn has come, so that the attempt may begin.
    #[inline]
    pub fn has_turn(&self) -> bool {
        self.stage == Stage::Begun
    }

    /// Asks whether the turn has come.
    #[inline]
    pub(crate) fn poll(&mut self, waker: &Waker) -> Turn {
        if self.has_turn() {
            return Turn::Begin;
        }
        let turn = (self.as_limiter)(&self.limiter).poll(&mut self.ticket, waker);
        if turn == Turn::Begin {
            self.stage = Stage::Begun;
        }
        turn
    }

    /// The longest that it waits.
    pub(crate) fn longest_wait(&self) -> Option<Duration> {
        (self.as_limiter)(&self.limiter).longest_wait()
    }

    /// Tells the limiter that the attempt succeeded. [`Failure::place`](crate::Failure::place) tells it of failures.
    #[inline]
    pub fn succeeded(&mut self) -> Option<LimiterChanges> {
        self.leave(End::Success)
    }

    /// Gives the place back without an attempt, and with it what it was charged.
    pub fn give_back(mut self) {
        self.leave(End::NotBegun);
    }
}

/// A place with whichever limiter.
pub(crate) trait Leave {
    /// Tells the limiter how the attempt ended, once.
    fn leave(&mut self, end: End) -> Option<LimiterChanges>;

    /// Whether the limiter takes care of throttled retries.
    fn handles_throttling(&self) -> bool;
}

impl<L> Leave for Place<L> {
    #[inline]
    fn leave(&mut self, end: End) -> Option<LimiterChanges> {
        if self.stage == Stage::Left {
            return None;
        }
        self.stage = Stage::Left;
        let ticket = Ticket::new(self.ticket.number(), self.ticket.cost());
        (self.as_limiter)(&self.limiter).leave(ticket, end)
    }

    fn handles_throttling(&self) -> bool {
        (self.as_limiter)(&self.limiter).handles_throttling()
    }
}

impl<L> Drop for Place<L> {
    #[inline]
    fn drop(&mut self) {
        match self.stage {
            Stage::Waits => self.leave(End::NotBegun),
            Stage::Begun => self.leave(End::Ignored),
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
