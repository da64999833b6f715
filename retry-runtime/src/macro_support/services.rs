//! The types that keys accept as services: timers, observers, cancellation and shared protections.

use alloc::boxed::Box;
use core::future::{Future, Pending, pending};
use core::marker::PhantomData;
use core::ops::Deref;
use core::pin::Pin;
#[cfg(feature = "std")]
use core::time::Duration;

use crate::admission::WithCost;
#[cfg(not(feature = "std"))]
use crate::budget::retry_budget::RetryBudget;
use crate::observe::{Event, Observer};
use crate::time::{BlockingTimer, Cancel, CancelFn, IntoCancelled, Timer};
#[cfg(feature = "std")]
use crate::{budget::bucket::Budget, time::timer::TimerFn};

/// Distinguishes an impl for a trait's implementors from one for functions.
pub struct ViaTrait;
pub struct ViaFn;

/// The types that the key `timer` accepts.
#[diagnostic::on_unimplemented(
    message = "`{Self}` can't be used as a timer",
    label = "neither a `Timer` nor a function from `Duration` to a future",
    note = "pass a type that implements `retry_runtime::Timer`, or a function from `Duration` to a future",
    note = "a function needs the feature `std` of `retry-runtime`, for the system's clock"
)]
pub trait IntoTimer<Via> {
    type Timer: Timer;
    fn into_timer(self) -> Self::Timer;
}

impl<T: Timer> IntoTimer<ViaTrait> for T {
    type Timer = T;
    fn into_timer(self) -> T {
        self
    }
}

#[cfg(feature = "std")]
impl<F: Fn(Duration) -> S, S: Future> IntoTimer<ViaFn> for F {
    type Timer = TimerFn<F>;
    fn into_timer(self) -> TimerFn<F> {
        TimerFn::new(self)
    }
}

/// The types that the key `timer` accepts on a blocking function.
#[diagnostic::on_unimplemented(
    message = "`{Self}` can't be used as a timer by blocking code",
    label = "neither a `BlockingTimer` nor a function of a `Duration`",
    note = "pass a type that implements `retry_runtime::BlockingTimer`, or a function of a `Duration` as in `std::thread::sleep`",
    note = "a function needs the feature `std` of `retry-runtime`, for the system's clock"
)]
pub trait IntoBlockingTimer<Via> {
    type Timer: BlockingTimer;
    fn into_timer(self) -> Self::Timer;
}

impl<T: BlockingTimer> IntoBlockingTimer<ViaTrait> for T {
    type Timer = T;
    fn into_timer(self) -> T {
        self
    }
}

#[cfg(feature = "std")]
impl<F: Fn(Duration)> IntoBlockingTimer<ViaFn> for F {
    type Timer = TimerFn<F>;
    fn into_timer(self) -> TimerFn<F> {
        TimerFn::new(self)
    }
}

/// The types that the key `cancel` accepts on a blocking function.
#[diagnostic::on_unimplemented(
    message = "`{Self}` can't cancel a blocking call",
    label = "neither a `Cancel` nor a function that returns a `bool`",
    note = "pass an `&AtomicBool`, a function such as `|| token.is_cancelled()`, or a type that implements `retry_runtime::Cancel`"
)]
pub trait IntoCancel<Via> {
    type Cancel: Cancel;
    fn into_cancel(self) -> Self::Cancel;
}

impl<C: Cancel> IntoCancel<ViaTrait> for C {
    type Cancel = C;
    fn into_cancel(self) -> C {
        self
    }
}

impl<F: Fn() -> bool> IntoCancel<ViaFn> for F {
    type Cancel = CancelFn<F>;
    fn into_cancel(self) -> CancelFn<F> {
        CancelFn::new(self)
    }
}

/// Boxed, because it outlives the block in which a failure is decided. Only a failure pays for that.
// Opaque, so that only the bound causes an error.
pub fn cancelled<C: IntoCancelled>(cancel: C) -> Pin<Box<impl Future<Output = ()>>> {
    Box::pin(cancel.into_cancelled())
}

/// Never cancels the wait.
#[inline]
pub fn uncancelled() -> Pin<Box<Pending<()>>> {
    Box::pin(pending())
}

/// The types that the key `observe` accepts, apart from a closure written there.
#[diagnostic::on_unimplemented(
    message = "`{Self}` can't observe calls",
    label = "neither an `Observer` nor a function `fn(&Event<'_>)`",
    note = "pass a type that implements `retry_runtime::Observer`, or a closure `|event| …`"
)]
pub trait IntoObserver<Via> {
    fn observe(&self, event: &Event<'_>);
}

impl<T: Observer + ?Sized> IntoObserver<ViaTrait> for T {
    fn observe(&self, event: &Event<'_>) {
        Observer::observe(self, event);
    }
}

impl<F: Fn(&Event<'_>)> IntoObserver<ViaFn> for F {
    fn observe(&self, event: &Event<'_>) {
        self(event);
    }
}

/// The key `budget` without a value: the function's own budget.
#[cfg(feature = "std")]
#[inline]
pub fn own_budget(own: &'static Budget) -> &'static Budget {
    own
}

/// Replaces the budget if there can't be one.
#[cfg(not(feature = "std"))]
#[derive(Debug)]
pub struct NoBudget;

#[cfg(not(feature = "std"))]
impl NoBudget {
    pub const fn standard() -> Self {
        Self
    }
}

#[cfg(not(feature = "std"))]
#[diagnostic::on_unimplemented(
    message = "`budget` alone needs the feature `std` of `retry-runtime`",
    label = "needs the feature `std`",
    note = "enable the feature, or pass a budget, as in `budget = &BUDGET`, whose type implements `retry_runtime::RetryBudget`"
)]
pub trait OwnBudget {}

/// Never called. Its return type is a budget, so that there is only one error.
#[cfg(not(feature = "std"))]
pub fn own_budget<B: OwnBudget>(_: B) -> Option<&'static (dyn RetryBudget + Sync)> {
    None
}

/// Returns the values with the kind of each. The kinds stand for the values' borrows, so that the compiler reports a
/// borrow there, and not in the driver.
#[inline]
pub fn given<V: Given>(values: V) -> (V, V::Kinds) {
    (values, V::KINDS)
}

/// One to three values.
pub trait Given {
    type Kinds;
    const KINDS: Self::Kinds;
}

macro_rules! given {
    ($($($value:ident)+;)*) => {$(
        impl<$($value),+> Given for ($($value,)+) {
            type Kinds = ($(ByValue<$value>,)+);
            const KINDS: Self::Kinds = ($(ByValue::<$value>(ByPointer(PhantomData)),)+);
        }
    )*};
}
given!(A; A B; A B C;);

/// The first candidate of a method call, if the value stores its state inline: the key's expression would create it
/// again each time. Otherwise the call dereferences to the next candidate.
pub struct ByValue<T>(ByPointer<T>);

pub struct ByPointer<T>(PhantomData<fn() -> T>);

impl<T: Remembers> ByValue<T> {
    #[expect(clippy::unused_self, reason = "its type is the question")]
    pub fn __retry_shared(&self, value: T) -> T
    where
        T: Shared,
    {
        value
    }
}

impl<T> ByPointer<T> {
    #[inline]
    #[expect(clippy::unused_self, reason = "its type is the question")]
    pub fn __retry_shared(&self, value: T) -> T {
        value
    }
}

impl<T> Deref for ByValue<T> {
    type Target = ByPointer<T>;

    #[inline]
    fn deref(&self) -> &Self::Target {
        &self.0
    }
}

/// Types whose state is stored inline, so that a copy would start empty.
pub trait Remembers {}

#[cfg(feature = "std")]
impl Remembers for Budget {}

impl<L: Remembers> Remembers for WithCost<L> {}

impl<T: Remembers> Remembers for Box<T> {}

/// The types that calls can share.
#[diagnostic::on_unimplemented(
    message = "`{Self}` would be created again for each call, so it could not share any state",
    label = "not shared between calls",
    note = "store it in a `static` or in a field, and pass a reference or an `Arc`"
)]
pub trait Shared {}

#[diagnostic::do_not_recommend]
impl<T: ?Sized> Shared for &T {}
