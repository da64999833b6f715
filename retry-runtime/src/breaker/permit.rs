use core::time::Duration;

use crate::breaker::circuit_breaker::{CircuitBreaker, Pass, Seen, Transition};

/// A breaker's pass while an attempt runs. Dropped before the attempt has ended, it goes back to the breaker.
///
/// For loops of your own; the key `breaker` does all of it:
///
/// ```
/// use retry_runtime::{Breaker, Call, Failure, Permit, Policy, Reason, Site, Verdict};
///
/// static BREAKER: Breaker = Breaker::new().consecutive_failures(1);
/// const POLICY: Policy = Policy::none();
///
/// let site = Site::new(&POLICY, "model.fetch");
/// let mut call = Call::new();
/// let mut permit = Permit::new(&BREAKER).expect("closed");
/// let failure = Failure::new(&site, Verdict::TRANSIENT, &"connection refused");
/// assert!(call.failed_with(failure.permit(&mut permit)).is_ok());
/// // Before the next attempt:
/// if Permit::new(&BREAKER).is_none() {
///     let failure = Failure::new(&site, Verdict::TRANSIENT, &"connection refused");
///     call.gave_up(failure, Reason::Rejected);
/// }
/// # assert!(Permit::new(&BREAKER).is_none());
/// ```
// No bound on `B`: in expansions, an error about it appears once, where the expression is written.
#[derive(Debug)]
#[must_use = "dropped before the attempt, it lets nothing through"]
pub struct Permit<B> {
    breaker: B,
    pass: Option<Pass>,
    as_breaker: fn(&B) -> &dyn CircuitBreaker,
}

impl<B: CircuitBreaker> Permit<B> {
    /// Asks for a pass. `None` if the breaker lets nothing through.
    #[inline]
    pub fn new(breaker: B) -> Option<Self> {
        let mut permit = Self::unasked(breaker);
        permit.admit().then_some(permit)
    }

    /// Holds the breaker, which has not been asked for a pass yet.
    #[doc(hidden)]
    #[inline]
    pub fn unasked(breaker: B) -> Self {
        Self {
            breaker,
            pass: None,
            as_breaker,
        }
    }
}

fn as_breaker<B: CircuitBreaker>(breaker: &B) -> &dyn CircuitBreaker {
    breaker
}

impl<B> Permit<B> {
    /// What [`CircuitBreaker::is_open`] says.
    #[doc(hidden)]
    #[inline]
    pub fn is_open(&self) -> bool {
        (self.as_breaker)(&self.breaker).is_open()
    }

    /// What [`CircuitBreaker::half_open_in`] says.
    #[doc(hidden)]
    pub fn half_open_in(&self) -> Option<Duration> {
        (self.as_breaker)(&self.breaker).half_open_in()
    }

    /// Asks for a pass. Returns whether there is one.
    #[doc(hidden)]
    #[inline]
    pub fn admit(&mut self) -> bool {
        self.pass = (self.as_breaker)(&self.breaker).admit();
        self.pass.is_some()
    }

    /// Asks for a pass for an attempt beside a slow one.
    #[doc(hidden)]
    pub fn admit_beside(&mut self) -> bool {
        self.pass = (self.as_breaker)(&self.breaker).admit_hedge();
        self.pass.is_some()
    }

    /// The change of state that this attempt caused by beginning: to half open, or none.
    #[inline]
    pub fn transition(&self) -> Option<Transition> {
        let half_opens = self.pass.as_ref().is_some_and(Pass::half_opens);
        half_opens.then_some(Transition::HalfOpened)
    }

    /// Tells the breaker that the attempt succeeded. [`Failure::permit`](crate::Failure::permit) tells it of failures.
    #[inline]
    pub fn succeeded(&mut self) -> Option<Transition> {
        self.record(Seen::Success)
    }
}

#[cfg(any(feature = "batch", feature = "plan"))]
impl<B> Permit<B> {
    /// Gives back the pass of something that was no attempt of its own. However long it took, it does not count.
    pub(crate) fn release(mut self) {
        self.record(Seen::Ignored);
    }
}

/// A permit for whichever breaker.
pub(crate) trait Records {
    /// Tells the breaker, once.
    fn record(&mut self, seen: Seen) -> Option<Transition>;
}

impl<B> Records for Permit<B> {
    #[inline]
    fn record(&mut self, seen: Seen) -> Option<Transition> {
        let pass = self.pass.take()?;
        (self.as_breaker)(&self.breaker).record(pass, seen)
    }
}

impl<B> Drop for Permit<B> {
    #[inline]
    fn drop(&mut self) {
        if self.pass.is_some() {
            self.record(Seen::Dropped);
        }
    }
}
