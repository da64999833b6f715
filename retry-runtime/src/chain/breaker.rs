use crate::breaker::circuit_breaker::{CircuitBreaker, Seen, Transition};
use crate::breaker::permit::{Permit, Records};
use crate::chain::key::{Named, Unnamed};
use crate::classify::from_rejected::FromRejected;
use crate::classify::rejected::{Rejected, RejectedBy};
use crate::time::cancel::MayCancel;

/// What lets the attempts of a chain through, if its key `breaker` names something.
pub trait MayAdmit: Clone {
    /// Whether it does.
    const IS_NAMED: bool;
    /// Lets one attempt through. Dropped before that has ended, it goes back.
    type Pass;
    /// What a call keeps over a pause, to end with if no attempt may follow or it is cancelled.
    type Kept<C: MayCancel, V>;

    fn admit(&self) -> Option<Self::Pass>;
    /// Whether it would let nothing through now.
    fn is_open(&self) -> bool;
    /// The change of state that letting it through caused.
    fn transition(pass: &Self::Pass) -> Option<Transition>;
    /// Tells how the attempt ended, once.
    fn record(pass: &mut Self::Pass, seen: Seen) -> Option<Transition>;
    fn keep<C: MayCancel, V>(value: V) -> Self::Kept<C, V>;
    fn into_kept<C: MayCancel, V>(kept: Self::Kept<C, V>) -> Option<V>;
}

/// The same for calls that end with an error of type `E`.
#[diagnostic::on_unimplemented(
    message = "`breaker` and `limiter` need an error type that a rejection converts to, and `{E}` is not one",
    label = "`{E}` has no `From<Rejected>`",
    note = "write `impl From<retry_runtime::Rejected> for {E}`, or remove the key"
)]
pub trait Rejects<E>: MayAdmit {
    /// What a call ends with whose first attempt may not begin.
    fn rejected(by: RejectedBy) -> Option<E>;
}

impl MayAdmit for Unnamed {
    const IS_NAMED: bool = false;
    type Pass = ();
    type Kept<C: MayCancel, V> = C::Kept<V>;

    #[inline]
    fn admit(&self) -> Option<()> {
        Some(())
    }

    #[inline]
    fn is_open(&self) -> bool {
        false
    }

    #[inline]
    fn transition((): &()) -> Option<Transition> {
        None
    }

    #[inline]
    fn record((): &mut (), _: Seen) -> Option<Transition> {
        None
    }

    #[inline]
    fn keep<C: MayCancel, V>(value: V) -> C::Kept<V> {
        C::keep(value)
    }

    #[inline]
    fn into_kept<C: MayCancel, V>(kept: C::Kept<V>) -> Option<V> {
        C::into_kept(kept)
    }
}

#[diagnostic::do_not_recommend]
impl<E> Rejects<E> for Unnamed {
    #[inline]
    fn rejected(_: RejectedBy) -> Option<E> {
        None
    }
}

impl<B: CircuitBreaker + Clone> MayAdmit for Named<B> {
    const IS_NAMED: bool = true;
    type Pass = Permit<B>;
    type Kept<C: MayCancel, V> = V;

    #[inline]
    fn admit(&self) -> Option<Permit<B>> {
        Permit::new(self.0.clone())
    }

    #[inline]
    fn is_open(&self) -> bool {
        self.0.is_open()
    }

    #[inline]
    fn transition(pass: &Permit<B>) -> Option<Transition> {
        pass.transition()
    }

    #[inline]
    fn record(pass: &mut Permit<B>, seen: Seen) -> Option<Transition> {
        pass.record(seen)
    }

    fn keep<C: MayCancel, V>(value: V) -> V {
        value
    }

    fn into_kept<C: MayCancel, V>(kept: V) -> Option<V> {
        Some(kept)
    }
}

#[diagnostic::do_not_recommend]
impl<B: CircuitBreaker + Clone, E: FromRejected> Rejects<E> for Named<B> {
    fn rejected(by: RejectedBy) -> Option<E> {
        Some(E::from_rejected(Rejected::new(by)))
    }
}

/// A chain's pass while an attempt runs.
pub(crate) struct Admitted<R: MayAdmit> {
    pass: R::Pass,
}

impl<R: MayAdmit> Admitted<R> {
    #[inline]
    pub(crate) fn by(breaker: &R) -> Option<Self> {
        let pass = breaker.admit()?;
        Some(Self { pass })
    }

    /// The change of state that letting the attempt through caused.
    #[inline]
    pub(crate) fn transition(&self) -> Option<Transition> {
        R::transition(&self.pass)
    }

    /// The attempt succeeded.
    #[inline]
    pub(crate) fn succeeded(&mut self) -> Option<Transition> {
        R::record(&mut self.pass, Seen::Success)
    }

    /// What a failure is told to.
    #[inline]
    pub(crate) fn recorder(&mut self) -> Option<&mut dyn Records> {
        R::IS_NAMED.then_some(self)
    }
}

impl<R: MayAdmit> Records for Admitted<R> {
    fn record(&mut self, seen: Seen) -> Option<Transition> {
        R::record(&mut self.pass, seen)
    }
}
