use core::any::type_name;
use core::fmt;

use crate::classify::verdict::Verdict;
use crate::classify::{Classify, says};

/// Says which errors are worth a retry, and, in a chain with the key `idempotent`, which may have taken effect. For
/// functions that are generic over chains; [`Classifies`] is what to implement.
#[diagnostic::on_unimplemented(
    message = "the chain doesn't know which `{E}` errors to retry",
    label = "`{E}` is not `Classify`, or `{Self}` is not a function of it",
    note = "put `#[derive(retry_runtime::Classify)]` on `{E}`, or pass `on` a function, as in `.on(|error: &MyError| …)`"
)]
pub trait OnError<E>: Classifies<E, Sufficient: says::idempotent> {}

impl<E, On: Classifies<E, Sufficient: says::idempotent>> OnError<E> for On {}

/// Says which errors are worth a retry, and how the log shows them: [`ByClassify`], or a function that
/// [`Policy::on`](crate::Policy::on) was given.
#[diagnostic::on_unimplemented(
    message = "the chain doesn't know which `{E}` errors to retry",
    label = "`{E}` is not `Classify`, or `{Self}` is not a function of it",
    note = "put `#[derive(retry_runtime::Classify)]` on `{E}`, or pass `on` a function, as in `.on(|error: &MyError| …)`"
)]
pub trait Classifies<E> {
    /// Whether the key `show` says how the log shows it, also where errors are shown by their `Display` otherwise.
    #[doc(hidden)]
    const IS_SHOWN: bool = false;
    /// What it is made of: what the function returns.
    #[doc(hidden)]
    type Returned;
    /// What the function returns, where a key asks for more than a verdict that this is converted into. The key says whether
    /// it is enough.
    #[doc(hidden)]
    type Sufficient;

    /// The verdict on a failure.
    fn verdict(&mut self, error: &E) -> Verdict;

    /// How the log shows it. By default, by the name of its type.
    fn describe(&self, error: &E, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let _ = error;
        f.write_str(type_name::<E>())
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

/// A function of an error, whose type need not be written: the bound says that it is borrowed.
#[diagnostic::on_unimplemented(
    message = "`on` takes a function that decides whether to retry an error",
    label = "not a function of a borrowed error",
    note = "write `.on(is_retryable)` or `.on(|error: &MyError| …)`"
)]
pub trait OnFunction<E, V>: FnMut(&E) -> V {}

#[diagnostic::do_not_recommend]
impl<E, V, F: FnMut(&E) -> V> OnFunction<E, V> for F {}

/// Errors say it themselves, by [`Classify`], and are shown as [`Classify::describe`] says.
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

/// What says which errors are worth a retry in a chain with the key `idempotent`: by a [`Verdict`], since nothing less
/// says whether the request may have taken effect.
#[derive(Clone, Copy, Debug)]
pub struct ByVerdict<On>(On);

impl<On> ByVerdict<On> {
    /// Takes what says it, whose function must then return a [`Verdict`].
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

/// What [`PolicyCall::show`](crate::PolicyCall::show) makes of what says which errors are worth a retry: it also says how
/// the log shows them.
#[derive(Clone, Copy, Debug)]
pub struct ShownBy<On, S> {
    on: On,
    show: S,
}

impl<On, S> ShownBy<On, S> {
    /// Takes a function such as `fmt::Display::fmt`.
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

/// An error as `On` has it shown.
pub(crate) struct Described<'a, On, E> {
    pub(crate) on: &'a On,
    pub(crate) error: &'a E,
}

impl<E, On: Classifies<E>> fmt::Display for Described<'_, On, E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.on.describe(self.error, f)
    }
}
