use core::fmt;
use core::marker::PhantomData;
use core::time::Duration;

use crate::admission::AdmissionControl;
use crate::budget::retry_budget::RetryBudget;
use crate::call::protections::Protects;
use crate::chain::kept::Forgets;
use crate::time::{DefaultTimer, Uncancelled};

/// The keys of a chain that are plain values.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Settings {
    pub(crate) limit: AttemptLimit,
    pub(crate) idempotent: bool,
    pub(crate) is_spanned: bool,
    pub(crate) falls_back: bool,
}

/// The time after which an attempt is dropped: the key `timeout`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum AttemptLimit {
    None,
    OfPolicy,
    Own(Duration),
}

impl Settings {
    pub(crate) const fn new() -> Self {
        Self {
            limit: AttemptLimit::None,
            idempotent: true,
            is_spanned: false,
            falls_back: false,
        }
    }
}

/// The protections of a chain, which are only borrowed.
#[derive(Clone, Copy)]
#[cfg_attr(
    not(any(feature = "batch", feature = "plan")),
    expect(unreachable_pub, reason = "a part of what batches and plans take")
)]
pub struct BorrowedProtections<'a> {
    pub(crate) budget: Option<&'a (dyn RetryBudget + Send + Sync)>,
    pub(crate) breaker: Option<&'a (dyn AdmissionControl + Send + Sync)>,
    pub(crate) limiter: Option<&'a (dyn AdmissionControl + Send + Sync)>,
}

impl BorrowedProtections<'_> {
    pub(crate) const fn new() -> Self {
        Self {
            budget: None,
            breaker: None,
            limiter: None,
        }
    }
}

impl Protects for BorrowedProtections<'_> {
    #[inline]
    fn are_none(&self) -> bool {
        self.budget.is_none() && self.breaker.is_none() && self.limiter.is_none()
    }

    fn budget(&self) -> Option<&dyn RetryBudget> {
        self.budget.map(|budget| budget as _)
    }

    fn breaker(&self) -> Option<&dyn AdmissionControl> {
        self.breaker.map(|breaker| breaker as _)
    }

    fn limiter(&self) -> Option<&dyn AdmissionControl> {
        self.limiter.map(|limiter| limiter as _)
    }
}

impl fmt::Debug for BorrowedProtections<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("BorrowedProtections")
            .finish_non_exhaustive()
    }
}

/// The keys of a chain that have their own type and that batches and plans have, too: `observe`, `cancel` or `abort`,
/// and `timer`. `M` decides whether [errors are kept](crate::chain::Keep) during pauses.
#[derive(Clone, Copy, Debug)]
pub struct Keys<O = (), C = Uncancelled, W = DefaultTimer, M = Forgets> {
    pub(crate) observer: O,
    pub(crate) cancel: C,
    pub(crate) timer: W,
    pub(crate) keep: PhantomData<fn() -> M>,
}

impl Keys {
    pub(crate) const fn new() -> Self {
        Self {
            observer: (),
            cancel: Uncancelled,
            timer: DefaultTimer,
            keep: PhantomData,
        }
    }
}

impl<O, C, W, M> Keys<O, C, W, M> {
    pub(super) fn observe<V>(self, observer: V) -> Keys<V, C, W, M> {
        Keys {
            observer,
            cancel: self.cancel,
            timer: self.timer,
            keep: self.keep,
        }
    }

    pub(super) fn cancel<V>(self, cancel: V) -> Keys<O, V, W, M> {
        Keys {
            observer: self.observer,
            cancel,
            timer: self.timer,
            keep: self.keep,
        }
    }

    pub(super) fn timer<V>(self, timer: V) -> Keys<O, C, V, M> {
        Keys {
            observer: self.observer,
            cancel: self.cancel,
            timer,
            keep: self.keep,
        }
    }

    pub(super) fn keep<V>(self) -> Keys<O, C, W, V> {
        Keys {
            observer: self.observer,
            cancel: self.cancel,
            timer: self.timer,
            keep: PhantomData,
        }
    }
}
