//! One argument of the attribute.

use std::time::Duration;

use proc_macro2::{Ident, Span, TokenStream};
use syn::Expr;

use crate::key::Key;

/// `key = value` or `key(value)`.
pub(crate) struct Argument {
    pub(crate) key: Key,
    /// The key as written.
    pub(crate) ident: Ident,
    pub(crate) value: Value,
    /// The value as written.
    pub(crate) span: Span,
}

/// A value, checked where it is a literal.
pub(crate) enum Value {
    /// A number of retries; `u32::MAX` is unlimited.
    Count(u32),
    Duration(Duration),
    /// The factor, or a jitter ratio.
    Number(f64),
    /// One of the words of `backoff`, `jitter` or `hint`, with the variant it stands for.
    Word(&'static str, TokenStream),
    Text(String),
    Bool(bool),
    Expr(Expr),
    Name(Ident),
    Path(TokenStream),
    Section(Vec<Argument>),
}
