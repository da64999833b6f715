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
    record: fn(&B, Pass, Seen) -> Option<Transition>,
}

impl<B: CircuitBreaker> Permit<B> {
    /// Asks for a pass. `None` if the breaker lets nothing through.
    #[inline]
    pub fn new(breaker: B) -> Option<Self> {
        Self::unless_open(breaker).ok()
    }

    /// Asks the breaker for a pass, and returns the breaker if there is none.
    #[doc(hidden)]
    #[inline]
    pub fn unless_open(breaker: B) -> Result<Self, B> {
        match breaker.admit() {
            Some(pass) => Ok(Self::of(breaker, pass)),
            None => Err(breaker),
        }
    }

    /// Asks for a pass for an attempt beside a slow one.
    #[doc(hidden)]
    pub fn beside(breaker: B) -> Option<Self> {
        let pass = breaker.admit_hedge()?;
        Some(Self::of(breaker, pass))
    }

    fn of(breaker: B, pass: Pass) -> Self {
        Self {
            breaker,
            pass: Some(pass),
            record: B::record,
        }
    }
}

impl<B> Permit<B> {
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
        (self.record)(&self.breaker, pass, seen)
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
