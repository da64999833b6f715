//! What an annotated function returns.

use std::future::Future;

/// What an annotated function returns.
#[diagnostic::on_unimplemented(
    message = "`#[retry]` needs a function that returns a `Result`, and `{Self}` is none",
    label = "not a `Result`",
    note = "a failure is an `Err`: return `Result<_, _>`, or a future of one written as `impl Future<Output = …>` or `Pin<Box<dyn Future<Output = …>>>`"
)]
pub trait Outcome {
    type Value;
    type Error;
    fn into_result(self) -> Result<Self::Value, Self::Error>;
}

impl<T, E> Outcome for Result<T, E> {
    type Value = T;
    type Error = E;

    #[inline]
    fn into_result(self) -> Self {
        self
    }
}

#[inline]
pub fn into_result<R: Outcome>(outcome: R) -> Result<R::Value, R::Error> {
    outcome.into_result()
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
