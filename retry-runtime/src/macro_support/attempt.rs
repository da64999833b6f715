//! The parts of an attempt: the outcome's types, the arguments, the time limit, and names.

use alloc::borrow::ToOwned;
use alloc::string::String;
use core::any::type_name;
use core::borrow::Borrow;
use core::future::poll_fn;
use core::marker::PhantomData;
use core::pin::{Pin, pin};
use core::time::Duration;

use crate::name::function_in;
#[cfg(not(feature = "std"))]
use crate::seam::Moment;
use crate::time::platform::{HasTimer, default_timer, expect_timer};
use crate::time::{race, sleep_out};
use crate::{
    Attempt, TimedOut,
    seam::{BlockingTimer, Timer},
};

/// The return type of an annotated function.
#[diagnostic::on_unimplemented(
    message = "`#[retry]` needs a function that returns a `Result`, not `{Self}`",
    label = "not a `Result`",
    note = "a failure is an `Err`: return `Result<_, _>`, or a future of one written as `impl Future<Output = …>` or `Pin<Box<dyn Future<Output = …>>>`; or mark a method of a block with `#[retry(skip)]`"
)]
// These are type parameters, because associated types would cause a second compile error.
pub trait Outcome<T, E> {
    fn into_result(self) -> Result<T, E>;
    fn from_result(result: Result<T, E>) -> Self;
}

/// The value and error types of an outcome.
#[diagnostic::on_unimplemented(
    message = "`#[retry]` needs a function that returns a `Result`, not `{Self}`",
    label = "not a `Result`"
)]
pub trait OutcomeTypes {
    type Value;
    type Error;
}

impl<T, E> OutcomeTypes for Result<T, E> {
    type Value = T;
    type Error = E;
}

impl<T, E> Outcome<T, E> for Result<T, E> {
    fn into_result(self) -> Self {
        self
    }

    fn from_result(result: Self) -> Self {
        result
    }
}

pub fn into_result<R: Outcome<T, E>, T, E>(outcome: R) -> Result<T, E> {
    outcome.into_result()
}

/// Converts a `Result` back. Without this function, a type other than `Result` would also cause a type mismatch.
pub fn from_result<R: Outcome<T, E>, T, E>(result: Result<T, E>) -> R {
    R::from_result(result)
}

/// Returns the timer that the features provide. Panics in debug builds if the timer can't sleep here.
#[inline]
#[track_caller]
pub fn expected_timer<F: HasTimer>() -> F::Timer {
    expect_timer();
    default_timer::<F>()
}

/// The timer of a blocking call that doesn't set one.
#[cfg(feature = "std")]
#[inline]
pub fn blocking_timer<T: BlockingTimer>(timer: T) -> T {
    timer
}

/// Never called: there is no timer without `std`. Returns a timer type, so that there is only one compile error.
#[cfg(not(feature = "std"))]
pub fn blocking_timer<T: BlockingTimer>(_: T) -> &'static dyn BlockingTimer {
    unreachable!("there is no timer without the feature `std`")
}

/// Gives the compiler a block's type. Never called.
pub fn never<T>() -> T {
    unreachable!("it is behind an `if false`")
}

/// The inferred error type of a block, as a value, so that several expressions can share the type.
pub(super) type ErrorType<E> = PhantomData<fn() -> E>;

pub fn error_type<E>() -> ErrorType<E> {
    PhantomData
}

/// The error type, inferred from the argument of the `on` function.
pub fn error_type_by<E, V>(_: impl FnOnce(&E) -> V) -> ErrorType<E> {
    PhantomData
}

/// A type with this error type.
pub trait HasErrorType<E> {}

impl<T, E> HasErrorType<E> for Result<T, E> {}

impl<E, K> HasErrorType<E> for Attempt<E, K> {}

pub fn has_error_type<E>(_: ErrorType<E>, _: &impl HasErrorType<E>) {}

pub fn of_error_type<E>(_: ErrorType<E>, error: &E) -> &E {
    error
}

/// Like [`never`], for an outcome with this error type.
pub fn never_of<T, E>(_: ErrorType<E>) -> Result<T, E> {
    never()
}

/// Like [`never_of`], with the error type inferred from the argument of the `on` function.
pub fn never_by<T, E, V>(_: impl FnOnce(&E) -> V) -> Result<T, E> {
    never()
}

/// An argument that each attempt owns.
#[diagnostic::on_unimplemented(
    message = "every attempt but the last gets a clone of this argument, but `{Self}` is not `Clone`",
    label = "can't be cloned",
    note = "if the function or the type is yours, take the argument by reference, or implement `Clone` for `{Self}`",
    note = "otherwise put `#[retry]` on a function of your own that creates the argument and passes it on; in a trait, mark this method `#[retry(skip)]`"
)]
pub trait CloneArgument {
    fn clone_argument(&self) -> Self;
}

#[diagnostic::do_not_recommend]
impl<T: Clone> CloneArgument for T {
    fn clone_argument(&self) -> Self {
        self.clone()
    }
}

/// A clone of the argument, or for the last attempt the argument itself.
pub fn take_argument<T: CloneArgument>(slot: &mut Option<T>, is_last: bool) -> T {
    let argument = if is_last {
        slot.take()
    } else {
        slot.as_ref().map(T::clone_argument)
    };
    argument.expect("only the last attempt takes an argument")
}

/// A part of an argument that the body moves out, and later sets again.
#[diagnostic::on_unimplemented(
    message = "an attempt can't move `{Self}` out of an argument, even if the body sets it again afterwards",
    label = "moved out by this `for`",
    note = "use `for part in std::mem::take(&mut argument.parts)`, or add the argument to `clone(…)`"
)]
pub trait LeftInPlace {}

#[diagnostic::do_not_recommend]
impl<T: Copy> LeftInPlace for T {}

pub fn left_in_place<T: LeftInPlace>(_: &T) {}

/// The client that a decorator wraps, if a `'static` future or stream of the decorator must own it.
#[diagnostic::on_unimplemented(
    message = "a decorator clones its client into a `'static` future or stream, but `{Self}` is not `Clone`",
    label = "can't be cloned",
    note = "wrap it in an `Arc`, if that implements the trait, or implement `Clone` for it",
    note = "otherwise mark the method that returns the future or stream `#[retry(skip)]`"
)]
pub trait ClonedClient: Clone + 'static {}

#[diagnostic::do_not_recommend]
impl<C: Clone + 'static> ClonedClient for C {}

/// A borrowed argument that a `'static` future or stream keeps a clone of. A bound on this trait causes one compile
/// error; a bound on `ToOwned` would cause two.
pub trait KeptArgument {
    type Kept;
    fn keep(&self) -> Self::Kept;
    fn lend(kept: &Self::Kept) -> &Self;
}

impl<T: ToOwned + ?Sized> KeptArgument for T {
    type Kept = T::Owned;

    fn keep(&self) -> T::Owned {
        self.to_owned()
    }

    fn lend(kept: &T::Owned) -> &T {
        kept.borrow()
    }
}

pub fn keep<T: KeptArgument + ?Sized>(argument: &T) -> T::Kept {
    argument.keep()
}

pub fn keep_optional<T: KeptArgument + ?Sized>(argument: Option<&T>) -> Option<T::Kept> {
    argument.map(T::keep)
}

pub fn lend_optional<T: KeptArgument + ?Sized>(kept: &Option<T::Kept>) -> Option<&T> {
    kept.as_ref().map(T::lend)
}

/// Returns the future unchanged, to prevent clippy from suggesting `async fn` for a function whose whole body is an
/// `async` block.
#[inline]
pub fn opaque_future<T, F: Future<Output = T>>(future: F) -> impl Future<Output = T> {
    future
}

/// Runs an attempt or a key's expression. A closure that is taken as `FnOnce` can return a future or stream that
/// mutably borrows the closure's captures.
#[inline]
pub fn once<T>(attempt: impl FnOnce() -> T) -> T {
    attempt()
}

/// Returns the attempt unchanged, and keeps the second argument borrowed until then.
#[inline]
pub fn keep_borrowed<A, T>(attempt: A, _: &T) -> A {
    attempt
}

/// Like `core::mem::drop`, but doesn't trigger lints about values without a destructor.
#[inline]
pub fn drop<T>(_: T) {}

/// Returns the closure unchanged. Its attempts may run at once, so the bound prevents the body from consuming captured
/// values.
#[inline]
pub fn runs_at_once<F: Fn() -> A, A>(attempt: F) -> F {
    attempt
}

/// Starts and runs an attempt that always reads its own number, even while other attempts run.
pub async fn numbered<E, K, F: Future>(
    attempt: &Attempt<E, K>,
    mut body: Pin<&mut F>,
) -> F::Output {
    let number = attempt.begun();
    poll_fn(|context| {
        attempt.show(number);
        body.as_mut().poll(context)
    })
    .await
}

/// Runs an attempt with a time limit. An attempt that takes longer is dropped.
pub async fn in_time<T, E, F: Future<Output = Result<T, E>>>(
    limit: Option<Duration>,
    timer: impl Timer,
    attempt: Pin<&mut F>,
    is_dropped: &mut bool,
    timed_out: impl FnOnce(TimedOut) -> E,
) -> Result<T, E> {
    // If no time is left, the attempt doesn't start.
    let finished = match limit {
        Some(Duration::ZERO) => None,
        _ => race(attempt, pin!(sleep_out(timer, limit))).await,
    };
    *is_dropped = finished.is_none();
    finished.unwrap_or_else(|| Err(timed_out(TimedOut::new(limit.unwrap_or_default()))))
}

#[cfg(feature = "std")]
pub use crate::time::clock::{now, now_blocking};

/// Never called: without `std`, functions that don't set a timer don't compile.
#[cfg(not(feature = "std"))]
pub fn now() -> Moment {
    unreachable!("there is no clock without the feature `std`")
}

#[cfg(not(feature = "std"))]
pub use now as now_blocking;

/// The name of a decorator's call, with the wrapped client's type, such as `OpenAi::complete`.
#[cold]
pub fn client_name<C: ?Sized>(method: &str) -> String {
    let is_of_path = |char: char| char.is_alphanumeric() || matches!(char, '_' | ':');
    let mut name = String::new();
    let client = type_name::<C>().replace("{{closure}}::", "");
    for path in client.split_inclusive(|char| !is_of_path(char)) {
        let last = path.rfind("::").map_or(0, |colons| colons + 2);
        name.push_str(&path[last..]);
    }
    name.push_str("::");
    name.push_str(method);
    name
}

/// The path of the function that contains the closure or the item `__retry_name`.
pub fn surroundings<F>(_: &F) -> &'static str {
    function_in(type_name::<F>())
}
