//! Keys that a call may have or not, and room for what only calls with them need.

use core::future::Future;
use core::pin::Pin;
use core::task::{Context, Poll};

/// A record with another value in one field, which may be of another type, and all others as they are.
macro_rules! with {
    ($record:ident: $type:ident { $field:ident $(: $value:expr)? } $($kept:ident)+) => {
        $type { $field $(: $value)?, $($kept: $record.$kept),+ }
    };
}
pub(crate) use with;

/// What a chain has where a key was not named.
#[derive(Clone, Copy, Debug, Default)]
pub struct Unnamed;

/// The value of a key that was not named: there is none.
#[derive(Clone, Copy, Debug)]
pub enum Never {}

/// A key that a call may have: [`Unnamed`], which takes no room and leaves no code, or an `Option` of its value.
pub trait Key {
    /// Whether a call has the key.
    const IS_NAMED: bool;
    /// What the key was given.
    type Value;
    /// Room for something that only calls with this key have.
    type Room<V>: Room<V>;
    /// A key that stands for two: unnamed only if both are.
    type Or<K: Key>: Key;

    /// What the key was given.
    fn get(&self) -> Option<&Self::Value>;
}

/// Room for one value, or for none.
pub trait Room<V>: Default {
    /// Whether there is any room.
    const EXISTS: bool;

    /// Keeps the value.
    fn put(&mut self, value: V);
    /// Takes the value out.
    fn take(&mut self) -> Option<V>;
    /// Looks at the value.
    fn get_mut(&mut self) -> Option<&mut V>;
}

impl Key for Unnamed {
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

impl AsRef<str> for Never {
    fn as_ref(&self) -> &str {
        match *self {}
    }
}
