use core::marker::PhantomData;
use core::time::Duration;

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
