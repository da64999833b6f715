use core::any::type_name;
use core::fmt;

use retry_classify::{Classify, Verdict};

use retry_classify::macro_support::{plain_name, required};

/// Decides which errors are retried and, in a chain with the key `idempotent`, which are ambiguous. A bound for
/// functions that are generic over chains. To classify errors, implement [`Classifies`] instead.
#[diagnostic::on_unimplemented(
    message = "nothing decides which `{E}` errors to retry",
    label = "`{E}` is not `Classify`, and there is no `on` for it",
    note = "put `#[derive(retry_runtime::Classify)]` on `{E}`, or pass `on` a function, as in `.on(|error: &{E}| …)`"
)]
pub trait OnError<E>: Classifies<E, Sufficient: required::idempotent> {}

impl<E, On: Classifies<E, Sufficient: required::idempotent>> OnError<E> for On {}

/// Decides which errors are retried, and how the log shows them: [`ByClassify`], or the function passed to
/// [`Policy::on`](crate::Policy::on).
#[diagnostic::on_unimplemented(
    message = "nothing decides which `{E}` errors to retry",
    label = "`{E}` is not `Classify`, and there is no `on` for it",
    note = "put `#[derive(retry_runtime::Classify)]` on `{E}`, or pass `on` a function, as in `.on(|error: &{E}| …)`"
)]
pub trait Classifies<E> {
    /// True if the key `show` decides how the log shows errors, even in a plan, which otherwise uses their `Display`.
    #[doc(hidden)]
    const IS_SHOWN: bool = false;
    /// The function's return type.
    #[doc(hidden)]
    type Returned;
    /// The type that the key `idempotent` checks: the function's return type in a chain with that key, else a
    /// `Verdict`.
    #[doc(hidden)]
    type Sufficient;

    /// The verdict on a failure.
    fn verdict(&mut self, error: &E) -> Verdict;

    /// Writes the error as the log shows it. By default, the name of its type.
    fn describe(&self, error: &E, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let _ = error;
        f.write_str(&plain_name(type_name::<E>()))
    }
}

#[diagnostic::do_not_recommend]
impl<E, V: Into<Verdict>, F: FnMut(&E) -> V> Classifies<E> for F {
    type Returned = V;
    type Sufficient = Verdict;

    fn verdict(&mut self, error: &E) -> Verdict {
        self(error).into()
    }
}

/// A function of a borrowed error. A closure can omit its argument's type, because this bound makes it a reference.
#[diagnostic::on_unimplemented(
    message = "`on` takes a function that decides whether to retry an error",
    label = "not a function of a borrowed error",
    note = "write `.on(is_retryable)` or `.on(|error: &MyError| …)`"
)]
pub trait OnFunction<E, V>: FnMut(&E) -> V {}

#[diagnostic::do_not_recommend]
impl<E, V, F: FnMut(&E) -> V> OnFunction<E, V> for F {}

/// Errors are classified by [`Classify`] and shown by [`Classify::describe`].
#[derive(Clone, Copy, Debug, Default)]
pub struct ByClassify;

#[diagnostic::do_not_recommend]
impl<E: Classify> Classifies<E> for ByClassify {
    type Returned = Verdict;
    type Sufficient = Verdict;

    fn verdict(&mut self, error: &E) -> Verdict {
        error.classify()
    }

    fn describe(&self, error: &E, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        error.describe(f)
    }
}

/// Classifies errors in a chain with the key `idempotent`: by a [`Verdict`], because only a verdict records whether the
/// request may have taken effect.
#[derive(Clone, Copy, Debug)]
pub struct ByVerdict<On>(On);

impl<On> ByVerdict<On> {
    /// Wraps a classifier, whose function must then return a [`Verdict`].
    pub const fn new(on: On) -> Self {
        Self(on)
    }
}

#[diagnostic::do_not_recommend]
impl<E, On: Classifies<E>> Classifies<E> for ByVerdict<On> {
    const IS_SHOWN: bool = On::IS_SHOWN;
    type Returned = On::Returned;
    type Sufficient = On::Returned;

    fn verdict(&mut self, error: &E) -> Verdict {
        self.0.verdict(error)
    }

    fn describe(&self, error: &E, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.describe(error, f)
    }
}

/// A classifier with the formatter passed to [`PolicyCall::show`](crate::chain::PolicyCall::show).
#[derive(Clone, Copy, Debug)]
pub struct ShownBy<On, S> {
    on: On,
    show: S,
}

impl<On, S> ShownBy<On, S> {
    /// Adds a function such as `fmt::Display::fmt`.
    pub fn new<E>(on: On, show: S) -> Self
    where
        S: Fn(&E, &mut fmt::Formatter<'_>) -> fmt::Result,
    {
        Self { on, show }
    }
}

#[diagnostic::do_not_recommend]
impl<E, On, S> Classifies<E> for ShownBy<On, S>
where
    On: Classifies<E>,
    S: Fn(&E, &mut fmt::Formatter<'_>) -> fmt::Result,
{
    const IS_SHOWN: bool = true;
    type Returned = On::Returned;
    type Sufficient = On::Sufficient;

    fn verdict(&mut self, error: &E) -> Verdict {
        self.on.verdict(error)
    }

    fn describe(&self, error: &E, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        (self.show)(error, f)
    }
}

/// An error, displayed as `On` describes it.
pub struct Described<'a, On, E> {
    /// Describes the error.
    pub on: &'a On,
    /// The error.
    pub error: &'a E,
}

impl<E, On: Classifies<E>> fmt::Display for Described<'_, On, E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.on.describe(self.error, f)
    }
}
