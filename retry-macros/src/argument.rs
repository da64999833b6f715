//! One argument of the attribute.

use std::time::Duration;

use proc_macro2::{Ident, Span, TokenStream};
use quote::quote;
use syn::Expr;

use crate::key::Key;

/// `key = value` or `key(value)`.
#[derive(Clone)]
pub(crate) struct Argument {
    pub(crate) key: Key,
    /// The key as written.
    pub(crate) ident: Ident,
    pub(crate) value: Value,
    /// The value as written.
    pub(crate) span: Span,
}

impl Argument {
    /// Whether a block's argument of that key has no say where a member has this one.
    pub(crate) fn replaces(&self, key: Key) -> bool {
        match self.key {
            Key::Policy => key == Key::Policy || Key::OF_POLICY.contains(&key),
            Key::GiveUp | Key::Fallback => matches!(key, Key::GiveUp | Key::Fallback),
            Key::Hint => matches!(key, Key::Hint | Key::MaxHint),
            _ => key == self.key && !Key::SECTIONS.contains(&key),
        }
    }

    /// Puts a section's arguments over this section's.
    pub(crate) fn merge(&mut self, section: Self) {
        if let (Value::Section(below), Value::Section(above)) = (&mut self.value, section.value) {
            below.retain(|argument| !above.iter().any(|above| above.key == argument.key));
            below.extend(above);
        }
    }

    /// Makes a block's name that of a member.
    pub(crate) fn append(&mut self, member: &Ident) {
        let member = format!(".{}", member.to_string().trim_start_matches("r#"));
        match &mut self.value {
            Value::Text(name) => name.push_str(&member),
            Value::Expr(name) => {
                *name = Expr::Verbatim(quote! {
                    [::core::convert::AsRef::<str>::as_ref(&(#name)), #member].concat()
                });
            }
            _ => {}
        }
    }
}

/// A value, checked where it is a literal.
#[derive(Clone)]
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
