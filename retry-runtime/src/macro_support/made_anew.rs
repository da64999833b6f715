//! What calls share is of no use by value: the expression of a key would make it anew each time.

use alloc::boxed::Box;
use core::marker::PhantomData;
use core::ops::Deref;

#[cfg(feature = "std")]
use crate::breaker::circuit::Breaker;
#[cfg(feature = "std")]
use crate::budget::bucket::Budget;
use crate::call::protections::Protections;
#[cfg(feature = "std")]
use crate::limiter::concurrency_limiter::ConcurrencyLimiter;
#[cfg(feature = "std")]
use crate::limiter::rate_limiter::RateLimiter;
use crate::limiter::with_cost::WithCost;

/// What remembers earlier attempts in itself, not behind a pointer.
pub trait Remembers {}

#[cfg(feature = "std")]
impl Remembers for Breaker {}

#[cfg(feature = "std")]
impl Remembers for Budget {}

#[cfg(feature = "std")]
impl Remembers for ConcurrencyLimiter {}

#[cfg(feature = "std")]
impl<By> Remembers for RateLimiter<By> {}

impl<L: Remembers> Remembers for WithCost<L> {}

impl<T: Remembers> Remembers for Box<T> {}

/// What calls can share.
#[diagnostic::on_unimplemented(
    message = "`{Self}` would be made anew each time, and so know of no other attempt",
    label = "not shared by calls",
    note = "keep it in a `static` or in a field, and give a reference or an `Arc`"
)]
pub trait Shared {}

#[diagnostic::do_not_recommend]
impl<T: ?Sized> Shared for &T {}

/// A method call takes the first candidate whose bounds hold, and dereferences to find the next.
pub struct ByValue<T>(ByPointer<T>);

pub struct ByPointer<T>(PhantomData<fn() -> T>);

#[inline]
pub fn shared_budget<B, R, L>(_: &Protections<B, R, L>) -> ByValue<B> {
    ByValue(ByPointer(PhantomData))
}

#[inline]
pub fn shared_breaker<B, R, L>(_: &Protections<B, R, L>) -> ByValue<R> {
    ByValue(ByPointer(PhantomData))
}

#[inline]
pub fn shared_limiter<B, R, L>(_: &Protections<B, R, L>) -> ByValue<L> {
    ByValue(ByPointer(PhantomData))
}

impl<T: Remembers> ByValue<T> {
    pub fn __retry_is_shared(&self)
    where
        T: Shared,
    {
    }
}

impl<T> ByPointer<T> {
    #[inline]
    pub fn __retry_is_shared(&self) {}
}

impl<T> Deref for ByValue<T> {
    type Target = ByPointer<T>;

    #[inline]
    fn deref(&self) -> &Self::Target {
        &self.0
    }
}
