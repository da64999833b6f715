/// An async closure, or another function that returns a future. [`Policy::call`](crate::Policy::call) calls it for each
/// attempt.
#[diagnostic::on_unimplemented(
    message = "a policy can't call this for each attempt",
    label = "not `FnMut() -> impl Future`, or it lends what it captures",
    note = "a future can be awaited only once: pass a closure that creates it, as in `.call(|| get(url))`",
    note = "an `impl AsyncFn` parameter lends what it captures: write `.call(|| operation())`",
    note = "an async closure can't change what it captures, because its future borrows it: capture a `Cell` or a lock",
    note = "or write `retrying!(policy = policy, async {{ … }})`, whose block can change what it borrows"
)]
pub trait Operation<R>: FnMut() -> R {}

#[diagnostic::do_not_recommend]
impl<F: FnMut() -> R, R> Operation<R> for F {}

/// The return type of a blocking attempt: a `Result`. It has type parameters, because with associated types the
/// compiler would report a second error.
#[diagnostic::on_unimplemented(
    message = "this blocking call needs a closure that returns `Result<{T}, {E}>`, not `{Self}`",
    label = "doesn't return a `Result<{T}, {E}>`",
    note = "`on` and hooks take the closure's error type; to call an async function, write `.call(async || get(url).await).await`"
)]
pub trait BlockingOutcome<T, E> {
    /// The `Result`.
    fn into_result(self) -> Result<T, E>;
}

#[diagnostic::do_not_recommend]
impl<T, E> BlockingOutcome<T, E> for Result<T, E> {
    fn into_result(self) -> Self {
        self
    }
}
