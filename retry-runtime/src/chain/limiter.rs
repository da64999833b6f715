use std::future::{Future, ready};
use std::pin::Pin;
use std::task::Waker;
use std::time::Duration;

use crate::call::from_rejected::FromRejected;
use crate::call::rejected::{Rejected, RejectedBy};
use crate::chain::breaker::MayAdmit;
use crate::chain::key::{Named, Unnamed};
use crate::limiter::place::{Leave, Queued, Standing};
use crate::limiter::{End, Limiter, LimiterChange, Turn, waiting};
use crate::time::cancel::{Cancel, MayCancel};
use crate::time::moment::Moment;
use crate::time::timer::Timer;

/// What makes the attempts of a chain wait for their turn, if its key `limiter` names something.
pub trait MayWait {
    /// Whether it does.
    const IS_NAMED: bool;
    /// How far an attempt has come.
    type Standing: Send;
    /// What a call keeps over a pause, to end with if no attempt may follow or it is cancelled.
    type Kept<R: MayAdmit, C: MayCancel, V>;

    fn enter(&self) -> Self::Standing;
    fn has_turn(standing: &Self::Standing) -> bool;
    fn poll(&self, standing: &mut Self::Standing, waker: &Waker) -> Turn;
    fn max_wait(&self) -> Option<Duration>;
    fn leave(&self, standing: &mut Self::Standing, end: End) -> Option<LimiterChange>;
    fn abandon(&self, standing: &mut Self::Standing);
    fn wait(
        place: &mut InLine<'_, Self>,
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
pub trait RejectsToo<E>: MayWait {
    /// What a call ends with whose first attempt may not begin.
    fn rejected(by: RejectedBy) -> Option<E>;
}

impl MayWait for Unnamed {
    const IS_NAMED: bool = false;
    type Standing = ();
    type Kept<R: MayAdmit, C: MayCancel, V> = R::Kept<C, V>;

    #[inline]
    fn enter(&self) {}

    #[inline]
    fn has_turn((): &()) -> bool {
        true
    }

    #[inline]
    fn poll(&self, (): &mut (), _: &Waker) -> Turn {
        Turn::Begin
    }

    #[inline]
    fn max_wait(&self) -> Option<Duration> {
        None
    }

    #[inline]
    fn leave(&self, (): &mut (), _: End) -> Option<LimiterChange> {
        None
    }

    #[inline]
    fn abandon(&self, (): &mut ()) {}

    #[inline]
    fn wait(
        _: &mut InLine<'_, Self>,
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

impl<L: Limiter> MayWait for Named<L> {
    const IS_NAMED: bool = true;
    type Standing = Standing;
    type Kept<R: MayAdmit, C: MayCancel, V> = V;

    #[inline]
    fn enter(&self) -> Standing {
        Standing::enter(&self.0)
    }

    #[inline]
    fn has_turn(standing: &Standing) -> bool {
        standing.has_turn()
    }

    #[inline]
    fn poll(&self, standing: &mut Standing, waker: &Waker) -> Turn {
        standing.poll(&self.0, waker)
    }

    fn max_wait(&self) -> Option<Duration> {
        self.0.max_wait()
    }

    #[inline]
    fn leave(&self, standing: &mut Standing, end: End) -> Option<LimiterChange> {
        standing.leave(&self.0, end)
    }

    #[inline]
    fn abandon(&self, standing: &mut Standing) {
        standing.abandon(&self.0);
    }

    fn wait(
        place: &mut InLine<'_, Self>,
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
impl<L: Limiter, E: FromRejected> RejectsToo<E> for Named<L> {
    fn rejected(by: RejectedBy) -> Option<E> {
        Some(E::from_rejected(Rejected::new(by)))
    }
}

/// An attempt's place with a chain's limiter. Dropped before the attempt has ended, it goes back.
// Of no type that depends on a lifetime, in which the compiler would not find a future `Send`.
pub struct InLine<'a, M: MayWait> {
    limiter: &'a M,
    standing: M::Standing,
}

impl<'a, M: MayWait> InLine<'a, M> {
    /// At the end of the queue, or with the turn if that has come already.
    #[inline]
    pub(super) fn new(limiter: &'a M) -> Self {
        let standing = limiter.enter();
        Self { limiter, standing }
    }

    #[inline]
    pub(super) fn has_turn(&self) -> bool {
        M::has_turn(&self.standing)
    }

    /// Waits for the turn on this thread.
    pub(super) fn wait_blocking(
        &mut self,
        deadline: Option<Moment>,
        cancel: &dyn Cancel,
    ) -> Result<Duration, RejectedBy> {
        waiting::wait_blocking(self, deadline, Some(cancel))
    }

    /// The attempt succeeded.
    #[inline]
    pub(super) fn succeeded(&mut self) -> Option<LimiterChange> {
        self.leave(End::Success)
    }

    /// The attempt does not begin.
    #[inline]
    pub(super) fn give_back(mut self) {
        self.leave(End::NotBegun);
    }

    /// What a failure is told to.
    #[inline]
    pub(super) fn left(&mut self) -> Option<&mut dyn Leave> {
        M::IS_NAMED.then_some(self)
    }
}

impl<M: MayWait> Queued for InLine<'_, M> {
    #[inline]
    fn poll(&mut self, waker: &Waker) -> Turn {
        self.limiter.poll(&mut self.standing, waker)
    }

    fn max_wait(&self) -> Option<Duration> {
        self.limiter.max_wait()
    }
}

impl<M: MayWait> Leave for InLine<'_, M> {
    #[inline]
    fn leave(&mut self, end: End) -> Option<LimiterChange> {
        self.limiter.leave(&mut self.standing, end)
    }
}

impl<M: MayWait> Drop for InLine<'_, M> {
    #[inline]
    fn drop(&mut self) {
        self.limiter.abandon(&mut self.standing);
    }
}
