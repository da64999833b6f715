use core::future::{Future, ready};
use core::pin::Pin;
use core::task::Waker;
use core::time::Duration;

use crate::chain::breaker::MayAdmit;
use crate::chain::key::{Named, Unnamed};
use crate::classify::from_rejected::FromRejected;
use crate::classify::rejected::{Rejected, RejectedBy};
use crate::limiter::place::{Leave, Place};
use crate::limiter::waiting::Queued;
use crate::limiter::{End, Limiter, LimiterChanges, Turn, waiting};
use crate::time::blocking_timer::BlockingTimer;
use crate::time::cancel::{Cancel, MayCancel};
use crate::time::moment::Moment;
use crate::time::timer::Timer;

/// What makes the attempts of a chain wait for their turn, if its key `limiter` names something.
pub trait MayWait: Clone {
    /// Whether it does.
    const IS_NAMED: bool;
    /// How far an attempt has come.
    type Standing;
    /// What a call keeps over a pause, to end with if no attempt may follow or it is cancelled.
    type Kept<R: MayAdmit, C: MayCancel, V>;

    /// Takes a place for an attempt that counts as that many.
    fn enter(&self, attempts: u32) -> Self::Standing;
    fn has_turn(standing: &Self::Standing) -> bool;
    fn poll(standing: &mut Self::Standing, waker: &Waker) -> Turn;
    fn max_wait(standing: &Self::Standing) -> Option<Duration>;
    fn leave(standing: &mut Self::Standing, end: End) -> Option<LimiterChanges>;
    fn wait(
        place: &mut InLine<Self>,
        timer: &impl Timer,
        deadline: Option<Moment>,
        cancelled: Pin<&mut impl Future>,
    ) -> impl Future<Output = Result<Duration, RejectedBy>>
    where
        Self: Sized;
    fn keep<R: MayAdmit, C: MayCancel, V>(value: V) -> Self::Kept<R, C, V>;
    fn into_kept<R: MayAdmit, C: MayCancel, V>(kept: Self::Kept<R, C, V>) -> Option<V>;
}

/// The same for calls that end with an error of type `E`.
#[diagnostic::on_unimplemented(
    message = "`breaker` and `limiter` need an error type that a rejection converts to, and `{E}` is not one",
    label = "`{E}` has no `From<Rejected>`",
    note = "write `impl From<retry_runtime::Rejected> for {E}`, or remove the key"
)]
pub trait RejectsToo<E>: MayWait {
    /// What a call ends with whose first attempt may not begin.
    fn rejected(by: RejectedBy) -> Option<E>;
}

impl MayWait for Unnamed {
    const IS_NAMED: bool = false;
    type Standing = ();
    type Kept<R: MayAdmit, C: MayCancel, V> = R::Kept<C, V>;

    #[inline]
    fn enter(&self, _: u32) {}

    #[inline]
    fn has_turn((): &()) -> bool {
        true
    }

    #[inline]
    fn poll((): &mut (), _: &Waker) -> Turn {
        Turn::Begin
    }

    #[inline]
    fn max_wait((): &()) -> Option<Duration> {
        None
    }

    #[inline]
    fn leave((): &mut (), _: End) -> Option<LimiterChanges> {
        None
    }

    #[inline]
    fn wait(
        _: &mut InLine<Self>,
        _: &impl Timer,
        _: Option<Moment>,
        _: Pin<&mut impl Future>,
    ) -> impl Future<Output = Result<Duration, RejectedBy>> {
        ready(Ok(Duration::ZERO))
    }

    #[inline]
    fn keep<R: MayAdmit, C: MayCancel, V>(value: V) -> R::Kept<C, V> {
        R::keep::<C, V>(value)
    }

    #[inline]
    fn into_kept<R: MayAdmit, C: MayCancel, V>(kept: R::Kept<C, V>) -> Option<V> {
        R::into_kept::<C, V>(kept)
    }
}

#[diagnostic::do_not_recommend]
impl<E> RejectsToo<E> for Unnamed {
    #[inline]
    fn rejected(_: RejectedBy) -> Option<E> {
        None
    }
}

impl<L: Limiter + Clone> MayWait for Named<L> {
    const IS_NAMED: bool = true;
    type Standing = Place<L>;
    type Kept<R: MayAdmit, C: MayCancel, V> = V;

    #[inline]
    fn enter(&self, attempts: u32) -> Place<L> {
        Place::of(self.0.clone(), attempts)
    }

    #[inline]
    fn has_turn(place: &Place<L>) -> bool {
        place.has_turn()
    }

    #[inline]
    fn poll(place: &mut Place<L>, waker: &Waker) -> Turn {
        Queued::poll(place, waker)
    }

    fn max_wait(place: &Place<L>) -> Option<Duration> {
        Queued::max_wait(place)
    }

    #[inline]
    fn leave(place: &mut Place<L>, end: End) -> Option<LimiterChanges> {
        Leave::leave(place, end)
    }

    fn wait(
        place: &mut InLine<Self>,
        timer: &impl Timer,
        deadline: Option<Moment>,
        cancelled: Pin<&mut impl Future>,
    ) -> impl Future<Output = Result<Duration, RejectedBy>> {
        waiting::wait(place, timer, deadline, cancelled)
    }

    fn keep<R: MayAdmit, C: MayCancel, V>(value: V) -> V {
        value
    }

    fn into_kept<R: MayAdmit, C: MayCancel, V>(kept: V) -> Option<V> {
        Some(kept)
    }
}

#[diagnostic::do_not_recommend]
impl<L: Limiter + Clone, E: FromRejected> RejectsToo<E> for Named<L> {
    fn rejected(by: RejectedBy) -> Option<E> {
        Some(E::from_rejected(Rejected::new(by)))
    }
}

/// An attempt's place with a chain's limiter.
pub struct InLine<M: MayWait> {
    standing: M::Standing,
}

impl<M: MayWait> InLine<M> {
    /// At the end of the queue, or with the turn if that has come already.
    #[inline]
    pub(crate) fn new(limiter: &M) -> Self {
        Self::of(limiter, 1)
    }

    /// The same for an attempt that counts as that many.
    #[inline]
    pub(crate) fn of(limiter: &M, attempts: u32) -> Self {
        let standing = limiter.enter(attempts);
        Self { standing }
    }

    #[inline]
    pub(crate) fn has_turn(&self) -> bool {
        M::has_turn(&self.standing)
    }

    /// Waits for the turn in blocking code.
    pub(crate) fn wait_blocking(
        &mut self,
        timer: &dyn BlockingTimer,
        deadline: Option<Moment>,
        cancel: &dyn Cancel,
    ) -> Result<Duration, RejectedBy> {
        waiting::wait_blocking(self, timer, deadline, cancel)
    }

    /// The attempt succeeded.
    #[inline]
    pub(crate) fn succeeded(&mut self) -> Option<LimiterChanges> {
        self.leave(End::Success)
    }

    /// The attempt does not begin.
    #[inline]
    pub(crate) fn give_back(&mut self) {
        self.leave(End::NotBegun);
    }

    /// What a failure is told to.
    #[inline]
    pub(crate) fn left(&mut self) -> Option<&mut dyn Leave> {
        M::IS_NAMED.then_some(self)
    }
}

impl<M: MayWait> Queued for InLine<M> {
    fn has_turn(&self) -> bool {
        self.has_turn()
    }

    #[inline]
    fn poll(&mut self, waker: &Waker) -> Turn {
        M::poll(&mut self.standing, waker)
    }

    fn max_wait(&self) -> Option<Duration> {
        M::max_wait(&self.standing)
    }
}

impl<M: MayWait> Leave for InLine<M> {
    #[inline]
    fn leave(&mut self, end: End) -> Option<LimiterChanges> {
        M::leave(&mut self.standing, end)
    }
}
