//! The keys `before_pause` and `before_retry` of a chain.

use core::marker::PhantomData;

use crate::call::next_attempt::NextAttempt;
use crate::chain::key::{Key, Never};

/// What runs before a pause or a retry, and returns an `R`.
///
/// `R` is a parameter: a future that the type of a closure determines is not found `Send` in every future around it.
#[derive(Clone, Copy, Debug)]
pub struct Hook<F, R> {
    hook: F,
    returned: PhantomData<fn() -> R>,
}

impl<F, R> Hook<F, R> {
    pub(super) const fn new(hook: F) -> Self {
        Self {
            hook,
            returned: PhantomData,
        }
    }
}

/// A key for what runs before a pause or a retry.
pub trait HookKey: Key {
    /// What that returns: an outcome, or a future of one.
    type Returned;
}

impl HookKey for () {
    type Returned = Never;
}

impl<F, R> HookKey for Option<Hook<F, R>> {
    type Returned = R;
}

/// What runs between an error of type `E` and its retry.
#[diagnostic::on_unimplemented(
    message = "`before_pause` or `before_retry` of this chain can't be told of a `{E}`",
    label = "not a function from `&{E}` and a `NextAttempt`"
)]
pub trait Hooks<E>: HookKey {
    /// Begins it.
    fn begin(&mut self, error: &E, next: NextAttempt) -> Option<Self::Returned>;
}

impl<E> Hooks<E> for () {
    #[inline]
    fn begin(&mut self, _: &E, _: NextAttempt) -> Option<Never> {
        None
    }
}

#[diagnostic::do_not_recommend]
impl<E, F: FnMut(&E, NextAttempt) -> R, R> Hooks<E> for Option<Hook<F, R>> {
    fn begin(&mut self, error: &E, next: NextAttempt) -> Option<R> {
        self.as_mut().map(|hook| (hook.hook)(error, next))
    }
}
