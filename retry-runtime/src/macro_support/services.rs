//! The types that keys accept as services: timers, observers, cancellation and shared protections.

use alloc::boxed::Box;
use core::future::{Pending, pending};
use core::marker::PhantomData;
use core::pin::Pin;
#[cfg(feature = "std")]
use core::time::Duration;

use retry_classify::macro_support::else_by;

#[cfg(not(feature = "std"))]
use crate::seam::RetryBudget;
use crate::time::IntoCancelled;
#[cfg(feature = "std")]
use crate::{Budget, seam::TimerFn};
use crate::{
    Cancel, Event, Observer,
    seam::{BlockingTimer, CancelFn, Timer, WithCost},
};

/// Distinguishes an impl for a trait's implementors from one for functions.
pub struct ViaTrait;
pub struct ViaFn;

/// Conversions of a trait's implementors and of functions. Each key has its own trait, so that messages can list the
/// accepted types.
macro_rules! conversions {
    ($(
        $(#[$attr:meta])*
        $into:ident::$convert:ident: $target:ident, $(#[$cfg:meta])? or $function:ident<F> where [$($bounds:tt)+];
    )*) => {$(
        $(#[$attr])*
        pub trait $into<Via> {
            type Target: $target;
            fn $convert(self) -> Self::Target;
        }

        impl<T: $target> $into<ViaTrait> for T {
            type Target = T;
            fn $convert(self) -> T {
                self
            }
        }

        $(#[$cfg])?
        impl<$($bounds)+> $into<ViaFn> for F {
            type Target = $function<F>;
            fn $convert(self) -> $function<F> {
                $function::new(self)
            }
        }
    )*};
}

conversions! {
    /// The types that the key `timer` accepts.
    #[diagnostic::on_unimplemented(
        message = "`{Self}` can't be used as a timer",
        label = "neither a `Timer` nor a function from `Duration` to a future",
        note = "pass a type that implements `retry_runtime::seam::Timer`, or a function from `Duration` to a future",
        note = "a function needs the feature `std` of `retry-runtime`, for the system's clock"
    )]
    IntoTimer::into_timer: Timer,
        #[cfg(feature = "std")] or TimerFn<F> where [F: Fn(Duration) -> S, S: Future];

    /// The types that the key `timer` accepts on a blocking function.
    #[diagnostic::on_unimplemented(
        message = "`{Self}` can't be used as a timer by blocking code",
        label = "neither a `BlockingTimer` nor a function of a `Duration`",
        note = "pass a type that implements `retry_runtime::seam::BlockingTimer`, or a function of a `Duration` as in `std::thread::sleep`",
        note = "a function needs the feature `std` of `retry-runtime`, for the system's clock"
    )]
    IntoBlockingTimer::into_timer: BlockingTimer,
        #[cfg(feature = "std")] or TimerFn<F> where [F: Fn(Duration)];

    /// The types that the key `cancel` accepts on a blocking function.
    #[diagnostic::on_unimplemented(
        message = "`{Self}` can't cancel a blocking call",
        label = "neither a `Cancel` nor a function that returns a `bool`",
        note = "pass an `&AtomicBool`, a function such as `|| token.is_cancelled()`, or a type that implements `retry_runtime::Cancel`"
    )]
    IntoCancel::into_cancel: Cancel, or CancelFn<F> where [F: Fn() -> bool];
}

/// The cancellation, boxed because it outlives the block that decides after a failure. Only failures pay for the box.
// The return type is opaque, so that only the bound causes a compile error.
pub fn cancelled<C: IntoCancelled>(cancel: C) -> Pin<Box<impl Future<Output = ()>>> {
    Box::pin(cancel.into_cancelled())
}

/// A cancellation that never comes.
#[inline]
pub fn uncancelled() -> Pin<Box<Pending<()>>> {
    Box::pin(pending())
}

/// The types that the key `observe` accepts, except closures in the attribute itself.
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
pub fn own_budget(own: &'static Budget) -> &'static Budget {
    own
}

/// Stands in for a budget without the feature `std`.
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
    note = "enable the feature, or pass a budget, as in `budget = &BUDGET`, whose type implements `retry_runtime::seam::RetryBudget`"
)]
pub trait OwnBudget {}

/// Never called. Returns a budget type, so that there is only one compile error.
#[cfg(not(feature = "std"))]
pub fn own_budget<B: OwnBudget>(_: B) -> Option<&'static (dyn RetryBudget + Sync)> {
    None
}

/// Returns the values with the kind of each. The kinds carry the values' lifetimes, so that the compiler reports a
/// conflicting borrow at the value, and not in the driver.
#[inline]
pub fn given<V: Given>(values: V) -> (V, V::Kinds) {
    (values, V::KINDS)
}

/// A tuple of one to three values.
pub trait Given {
    type Kinds;
    const KINDS: Self::Kinds;
}

macro_rules! given {
    ($($($value:ident)+;)*) => {$(
        impl<$($value),+> Given for ($($value,)+) {
            type Kinds = ($(ByValue<'static, $value>,)+);
            const KINDS: Self::Kinds = ($(ByValue::<$value>(ByPointer(PhantomData, PhantomData)),)+);
        }
    )*};
}
given!(A; A B; A B C;);

// Method lookup finds `ByValue` first, if the value stores its state inline: the key's expression would create that
// state again for each call. Otherwise it dereferences to `ByPointer`.
else_by! {
    ByValue, ByPointer;
}

pub struct ByPointer<'a, T>(PhantomData<fn() -> T>, PhantomData<&'a ()>);

impl<T: Remembers> ByValue<'_, T> {
    pub fn __retry_shared(&self, value: T) -> T
    where
        T: Shared,
    {
        value
    }
}

impl<T> ByPointer<'_, T> {
    #[inline]
    pub fn __retry_shared(&self, value: T) -> T {
        value
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
