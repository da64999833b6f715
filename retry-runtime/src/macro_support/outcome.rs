//! What an annotated function returns.

use core::future::Future;

/// What an annotated function returns.
#[diagnostic::on_unimplemented(
    message = "`#[retry]` needs a function that returns a `Result`, and `{Self}` is none",
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
    message = "`#[retry]` needs a function that returns a `Result`, and `{Self}` is none",
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

/// Tells the compiler a block's type. It is never reached.
pub fn never<T>() -> T {
    unreachable!("it is behind an `if false`")
}

/// The future itself. A function whose whole body is an `async` block would look as if it could be an
/// `async fn`, which clippy then asks for.
#[inline]
pub fn lazy<F: Future>(future: F) -> F {
    future
}
