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
        let pass = breaker.admit()?;
        Some(Self {
            breaker,
            pass: Some(pass),
            as_breaker,
        })
    }
}

fn as_breaker<B: CircuitBreaker>(breaker: &B) -> &dyn CircuitBreaker {
    breaker
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
