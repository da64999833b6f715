//! What an attempt is made of: the outcome's types, the arguments, the time it may take, and names.

use alloc::borrow::ToOwned;
use alloc::string::String;
use core::any::type_name;
use core::borrow::Borrow;
use core::future::{Future, poll_fn};
use core::marker::PhantomData;
use core::pin::{Pin, pin};
use core::time::Duration;

use crate::call::attempt::Attempt;
use crate::chain::name::without_closures;
use crate::classify::timed_out::TimedOut;
use crate::time::blocking_timer::BlockingTimer;
use crate::time::enabled::{HasTimer, default_timer, expect_timer};
#[cfg(not(feature = "std"))]
use crate::time::moment::Moment;
use crate::time::pause::race;
use crate::time::timer::{Timer, sleep_out};

/// What an annotated function returns.
#[diagnostic::on_unimplemented(
    message = "`#[retry]` needs a function that returns a `Result`, not `{Self}`",
    label = "not a `Result`",
    note = "a failure is an `Err`: return `Result<_, _>`, or a future of one written as `impl Future<Output = …>` or `Pin<Box<dyn Future<Output = …>>>`"
)]
// With parameters, since associated types would add an error of their own.
pub trait Outcome<T, E> {
    fn into_result(self) -> Result<T, E>;
    fn from_result(result: Result<T, E>) -> Self;
}

/// The types of an outcome by name.
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
    #[inline]
    fn into_result(self) -> Self {
        self
    }

    #[inline]
    fn from_result(result: Self) -> Self {
        result
    }
}

#[inline]
pub fn into_result<R: Outcome<T, E>, T, E>(outcome: R) -> Result<T, E> {
    outcome.into_result()
}

/// The way back. Without it, a type that is not a `Result` would be a type mismatch as well.
#[inline]
pub fn from_result<R: Outcome<T, E>, T, E>(result: Result<T, E>) -> R {
    R::from_result(result)
}

/// The timer that the features bring, of a call that is expected to wait.
#[inline]
#[track_caller]
pub fn expected_timer<F: HasTimer>() -> F::Timer {
    expect_timer();
    default_timer::<F>()
}

/// The timer of a blocking call that names none.
#[cfg(feature = "std")]
#[inline]
pub fn blocking_timer<T: BlockingTimer>(timer: T) -> T {
    timer
}

/// Never called: without the feature there is none. What it returns is one, so that its absence is one error.
#[cfg(not(feature = "std"))]
pub fn blocking_timer<T: BlockingTimer>(_: T) -> &'static dyn BlockingTimer {
    unreachable!("there is no timer without the feature `std`")
}

/// Tells the compiler a block's type. It is never reached.
pub fn never<T>() -> T {
    unreachable!("it is behind an `if false`")
}

/// The error type of a block that names none, as a value: what is told of it has the same one.
pub(super) type ErrorType<E> = PhantomData<fn() -> E>;

pub fn error_type<E>() -> ErrorType<E> {
    PhantomData
}

/// The type that the function of `on` takes.
pub fn error_type_by<E, V>(_: impl FnOnce(&E) -> V) -> ErrorType<E> {
    PhantomData
}

/// What has an error type.
pub trait HasErrorType<E> {}

impl<T, E> HasErrorType<E> for Result<T, E> {}

impl<E, K> HasErrorType<E> for Attempt<E, K> {}

pub fn has_error_type<E>(_: ErrorType<E>, _: &impl HasErrorType<E>) {}

pub fn of_error_type<E>(_: ErrorType<E>, error: &E) -> &E {
    error
}

/// Like [`never`], for an outcome with that error.
pub fn never_of<T, E>(_: ErrorType<E>) -> Result<T, E> {
    never()
}

/// Like [`never`], for an outcome whose error the function of `on` takes.
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

/// A part of an argument that the body moves and sets again.
#[diagnostic::on_unimplemented(
    message = "an attempt can't move `{Self}` out of an argument, even if the body sets it again afterwards",
    label = "moved out by this `for`",
    note = "use `for part in std::mem::take(&mut argument.parts)`, or add the argument to `clone(…)`"
)]
pub trait LeftInPlace {}

#[diagnostic::do_not_recommend]
impl<T: Copy> LeftInPlace for T {}

pub fn left_in_place<T: LeftInPlace>(_: &T) {}

/// What a decorator wraps if a future or stream of its, whose type is `'static`, must own it.
#[diagnostic::on_unimplemented(
    message = "a decorator clones its client into a `'static` future or stream, but `{Self}` is not `Clone`",
    label = "can't be cloned",
    note = "wrap it in an `Arc`, if that implements the trait, or implement `Clone` for it",
    note = "otherwise mark the method that returns the future or stream `#[retry(skip)]`"
)]
pub trait ClonedClient: Clone + 'static {}

#[diagnostic::do_not_recommend]
impl<C: Clone + 'static> ClonedClient for C {}

/// A borrowed argument that such a future or stream keeps a clone of. The compiler complains once of a bound here, and
/// twice of `ToOwned`.
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

/// The future itself. A function whose whole body is an `async` block would look as if it could be an
/// `async fn`, which clippy then asks for.
#[inline]
pub fn lazy<F: Future>(future: F) -> F {
    future
}

/// Runs an attempt, or a key's expression, whose future or stream may borrow what it changes: taken by `FnOnce`, a closure
/// hands such a borrow on.
#[inline]
pub fn once<T>(attempt: impl FnOnce() -> T) -> T {
    attempt()
}

/// Returns the attempt unchanged, and shows the compiler that the other value is still in use.
#[inline]
pub fn beside<A, T>(attempt: A, _: &T) -> A {
    attempt
}

/// Ends a value's life. Not the standard library's, which lints ask not to be called with what has no destructor.
#[inline]
pub fn drop<T>(_: T) {}

/// What makes attempts. Several run at once, so the bound keeps the body from using up what it captures.
#[inline]
pub fn runs_at_once<F: Fn() -> A, A>(attempt: F) -> F {
    attempt
}

/// Runs an attempt, which begins now, so that it always sees its own number.
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

/// The outcome of an attempt that may take only so long. If it takes longer, it is dropped.
pub async fn in_time<T, E, F: Future<Output = Result<T, E>>>(
    limit: Option<Duration>,
    timer: impl Timer,
    attempt: Pin<&mut F>,
    is_dropped: &mut bool,
    timed_out: impl FnOnce(TimedOut) -> E,
) -> Result<T, E> {
    let finished = race(attempt, pin!(sleep_out(timer, limit))).await;
    *is_dropped = finished.is_none();
    finished.unwrap_or_else(|| Err(timed_out(TimedOut::new(limit.unwrap_or_default()))))
}

#[cfg(feature = "std")]
pub use crate::time::clock::{now, now_blocking};

/// Never called: without the feature, functions that name no timer don't compile.
#[cfg(not(feature = "std"))]
pub fn now() -> Moment {
    unreachable!("there is no clock without the feature `std`")
}

#[cfg(not(feature = "std"))]
pub use now as now_blocking;

/// The method of what a decorator wraps, as `OpenAi::complete`: one decorator is for many clients.
#[cold]
pub fn client_name<C: ?Sized>(method: &str) -> String {
    let is_of_path = |char: char| char.is_alphanumeric() || matches!(char, '_' | ':');
    let mut name = String::new();
    for path in type_name::<C>().split_inclusive(|char| !is_of_path(char)) {
        let last = path.rfind("::").map_or(0, |colons| colons + 2);
        name.push_str(&path[last..]);
    }
    name.push_str("::");
    name.push_str(method);
    name
}

/// The function that contains that one, an item of the name `__retry_name`.
pub fn surroundings<F>(_: &F) -> &'static str {
    let name = type_name::<F>();
    without_closures(name.strip_suffix("::__retry_name").unwrap_or(name))
}
