//! The arguments of one attribute.

use std::time::Duration;

use proc_macro2::{Ident, Span, TokenStream};
use retry_vocabulary::key::Key;
use retry_vocabulary::word::{Backoff, Hint, Jitter};
use syn::{Expr, Path, TypeParam};

use crate::as_variant::as_variant;
use crate::attribute::word::Mode;
use crate::errors::Errors;

/// A list of keys.
macro_rules! keys {
    ($($key:ident)*) => {
        [$(retry_vocabulary::key::Key::$key),*]
    };
}

pub(crate) use keys;

/// The arguments of one attribute, and all that was wrong with them.
#[derive(Clone, Default)]
pub(crate) struct Arguments {
    pub(crate) given: Vec<Argument>,
    /// For a member, the keys that only its block gives.
    pub(crate) of_block: Vec<Key>,
    pub(crate) errors: Errors,
}

/// `key = value` or `key(value)`.
#[derive(Clone)]
pub(crate) struct Argument {
    pub(crate) key: Key,
    /// The key as written.
    pub(crate) ident: Ident,
    pub(crate) value: KeyValue,
    /// The value as written.
    pub(crate) span: Span,
}

/// A value, checked where it is a literal.
#[derive(Clone)]
pub(crate) enum KeyValue {
    /// A number of retries; `u32::MAX` is unlimited.
    Count(u32),
    Factor(f64),
    Duration(Duration),
    Backoff(Backoff),
    /// A backoff by listed delays.
    List(Vec<Duration>),
    /// A backoff that a closure computes. It is not part of a policy, because it is called at each failure.
    Delays(Expr),
    Jitter(Jitter),
    /// A jitter by a ratio.
    Ratio(f64),
    Hint(Hint),
    Stream(Mode),
    Text(String),
    Bool(bool),
    Expr(Expr),
    /// The key stands alone: a budget of the function's own, the timeout of its policy, a method's own body.
    Alone,
    Name(Ident),
    Names(Vec<Ident>),
    /// A name, and the parameter behind it if it is written.
    Wrapper(Ident, Option<Box<TypeParam>>),
    Path(TokenStream),
    Paths(Vec<Path>),
    Section(Vec<Argument>),
}

impl Arguments {
    pub(crate) fn get(&self, key: Key) -> Option<&Argument> {
        find(&self.given, key)
    }

    /// Takes an argument out.
    pub(crate) fn take(&mut self, key: Key) -> Option<Argument> {
        let index = self.given.iter().position(|argument| argument.key == key)?;
        Some(self.given.remove(index))
    }

    pub(crate) fn value(&self, key: Key) -> Option<&KeyValue> {
        self.get(key).map(|argument| &argument.value)
    }
}

impl Argument {
    /// Whether it holds numbers for one kind of failure.
    pub(crate) fn is_section(&self) -> bool {
        matches!(self.value, KeyValue::Section(_))
    }

    /// Whether it is a section that names a shape of its own.
    pub(crate) fn has_shape(&self) -> bool {
        find(self.value.section(), Key::Backoff).is_some()
    }
}

pub(crate) fn find(given: &[Argument], key: Key) -> Option<&Argument> {
    given.iter().find(|argument| argument.key == key)
}

impl KeyValue {
    /// Whether it is known when compiling.
    pub(crate) fn is_literal(&self) -> bool {
        let mut inner = self.section().iter();
        !matches!(self, Self::Expr(_)) && inner.all(|argument| argument.value.is_literal())
    }

    /// The arguments of a section; none of any other value.
    pub(crate) fn section(&self) -> &[Argument] {
        as_variant!(self, Self::Section(inner) => inner.as_slice()).unwrap_or_default()
    }

    pub(crate) fn is_closure(&self) -> bool {
        matches!(self, Self::Expr(Expr::Closure(_)))
    }
}
