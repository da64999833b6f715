use super::inspect::Inspect;
use crate::text::wait::wait_in;
use crate::verdict::Verdict;

/// Combines functions for the key `on`: those in [`on`](crate::on), closures and your own functions. They return a
/// `bool` or anything else that converts into a [`Verdict`].
///
/// ```
/// use retry_runtime::on::{self, Combine};
/// use retry_runtime::Verdict;
///
/// fn is_overloaded(message: &String) -> bool {
///     message.starts_with("529")
/// }
///
/// let on = is_overloaded.or(on::mentions("try again")).except(on::mentions("quota"));
/// // A failure that a `bool` marks for a retry may have taken effect.
/// let retry = Verdict::TRANSIENT.ambiguous();
/// assert_eq!(on(&String::from("529")), retry);
/// assert_eq!(on(&String::from("Try again later")), retry);
/// assert_eq!(
///     on(&String::from("529: out of quota, try again tomorrow")),
///     Verdict::STOP
/// );
/// assert_eq!(on(&String::from("400")), Verdict::STOP);
/// ```
pub trait Combine: Sized {
    /// Retries a failure if either function retries it. If both do, the first one's verdict counts.
    fn or<E, V, W>(self, other: impl Fn(&E) -> W) -> impl Fn(&E) -> Verdict
    where
        E: ?Sized,
        Self: Fn(&E) -> V,
        V: Into<Verdict>,
        W: Into<Verdict>,
    {
        move |error: &E| match self(error).into() {
            verdict if verdict.is_retryable() => verdict,
            _ => other(error).into(),
        }
    }

    /// Retries a failure only if both functions retry it. The verdict has the kind of the first function's verdict
    /// and the longer hint, and is ambiguous if either function's verdict is.
    fn and<E, V, W>(self, other: impl Fn(&E) -> W) -> impl Fn(&E) -> Verdict
    where
        E: ?Sized,
        Self: Fn(&E) -> V,
        V: Into<Verdict>,
        W: Into<Verdict>,
    {
        move |error: &E| {
            let (first, second) = (self(error).into(), other(error).into());
            if !first.is_retryable() || !second.is_retryable() {
                return Verdict::STOP;
            }
            let verdict = first.with_hint(first.hint().max(second.hint()));
            verdict.ambiguous_if(second.is_ambiguous())
        }
    }

    /// Stops on a failure that `other` retries. On any other failure, the first function decides.
    fn except<E, V, W>(self, other: impl Fn(&E) -> W) -> impl Fn(&E) -> Verdict
    where
        E: ?Sized,
        Self: Fn(&E) -> V,
        V: Into<Verdict>,
        W: Into<Verdict>,
    {
        move |error: &E| match other(error).into() {
            excepted if excepted.is_retryable() => Verdict::STOP,
            _ => self(error).into(),
        }
    }

    /// Treats every failure that the function retries as throttled, and so as refused without processing. The hint is
    /// the verdict's, or else the wait in the message of the error or a source: "Please try again in 20s".
    ///
    /// ```
    /// use std::time::Duration;
    /// use retry_runtime::on::{self, Combine};
    /// use retry_runtime::Verdict;
    ///
    /// let on = on::mentions("429").throttled();
    /// let error = String::from("429: Please try again in 20s");
    /// assert_eq!(on(&error), Verdict::THROTTLED.after(Duration::from_secs(20)));
    /// assert_eq!(on(&String::from("401")), Verdict::STOP);
    /// ```
    fn throttled<E, V, Via>(self) -> impl Fn(&E) -> Verdict
    where
        E: Inspect<Via> + ?Sized,
        Self: Fn(&E) -> V,
        V: Into<Verdict>,
    {
        move |error: &E| {
            let verdict = self(error).into();
            if !verdict.is_retryable() {
                return Verdict::STOP;
            }
            Verdict::THROTTLED.with_hint(verdict.hint().or_else(|| error.inspected().find(wait_in)))
        }
    }
}

impl<F> Combine for F {}
