//! Keys that a chain may have or not, and room for what only calls with them need.

use alloc::string::String;
use core::future::Future;
use core::pin::Pin;
use core::task::{Context, Poll};

use crate::call::hook::HookOutcome;

/// The value of a key that was not named: there is none.
#[derive(Clone, Copy, Debug)]
pub enum Never {}

/// A key that a chain may have: `()`, which takes no room and leaves no code, or an `Option` of its value.
pub trait Key {
    /// True if the chain has the key.
    const IS_NAMED: bool;
    /// The type of the key's value.
    type Value;
    /// Room for something that only calls with this key have.
    type Room<V>: Room<V>;
    /// A key that stands for two: unnamed only if both are.
    type Or<K: Key>: Key;

    /// The key's value.
    fn get(&self) -> Option<&Self::Value>;
}

/// Room for one value, or for none.
pub trait Room<V>: Default {
    /// True if there is any room.
    const EXISTS: bool;

    /// Keeps the value.
    fn put(&mut self, value: V);
    /// Takes the value out.
    fn take(&mut self) -> Option<V>;
    /// The value.
    fn get_mut(&mut self) -> Option<&mut V>;
}

impl Key for () {
    const IS_NAMED: bool = false;
    type Value = Never;
    type Room<V> = ();
    type Or<K: Key> = K;

    #[inline]
    fn get(&self) -> Option<&Never> {
        None
    }
}

impl<T> Key for Option<T> {
    const IS_NAMED: bool = true;
    type Value = T;
    type Room<V> = Option<V>;
    type Or<K: Key> = Self;

    #[inline]
    fn get(&self) -> Option<&T> {
        self.as_ref()
    }
}

impl<V> Room<V> for () {
    const EXISTS: bool = false;

    #[inline]
    fn put(&mut self, _: V) {}

    #[inline]
    fn take(&mut self) -> Option<V> {
        None
    }

    #[inline]
    fn get_mut(&mut self) -> Option<&mut V> {
        None
    }
}

impl<V> Room<V> for Option<V> {
    const EXISTS: bool = true;

    #[inline]
    fn put(&mut self, value: V) {
        *self = Some(value);
    }

    #[inline]
    fn take(&mut self) -> Option<V> {
        Option::take(self)
    }

    #[inline]
    fn get_mut(&mut self) -> Option<&mut V> {
        self.as_mut()
    }
}

impl Future for Never {
    type Output = Self;

    fn poll(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<Self> {
        match *self {}
    }
}

impl HookOutcome for Never {
    fn cause(self) -> Option<String> {
        match self {}
    }
}

impl AsRef<str> for Never {
    fn as_ref(&self) -> &str {
        match *self {}
    }
}
