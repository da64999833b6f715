//! The macros of [`retry-runtime`](https://docs.rs/retry-runtime): `#[retry]` and `#[derive(Classify)]`.
//! Depend on that crate, which re-exports them.

// `syn` and `proc_macro2` types are passed by value as their own functions do.
#![allow(clippy::needless_pass_by_value)]

mod argument;
mod body;
mod check;
mod classify;
mod decorator;
mod expand;
mod function;
mod impl_block;
mod key;
mod literal;
mod members;
mod model;
mod nearest;
mod outcome;
mod parse;
mod retry_loop;
#[cfg(test)]
mod snapshots;
#[cfg_attr(
    not(feature = "stream"),
    expect(dead_code, reason = "the key is only read, to be refused")
)]
mod stream;
#[cfg(feature = "stream")]
mod stream_loop;
mod tokens;

use proc_macro::TokenStream;
use quote::quote;

use crate::check::Errors;
use crate::decorator::Decorator;
use crate::function::Function;
use crate::impl_block::ImplBlock;
use crate::members::{Braced, Keyword};
use crate::model::Model;
use crate::parse::Arguments;

/// Makes every call of a function survive transient failure. See the documentation of `retry_runtime`.
#[proc_macro_attribute]
pub fn retry(arguments: TokenStream, item: TokenStream) -> TokenStream {
    retry_item(arguments.into(), item.into()).into()
}

fn retry_item(
    arguments: proc_macro2::TokenStream,
    item: proc_macro2::TokenStream,
) -> proc_macro2::TokenStream {
    let arguments = Arguments::parse(arguments);
    let expanded = match Braced::of(&item) {
        Some((Keyword::Impl, block)) => ImplBlock(block).expand(&arguments),
        Some((Keyword::Trait, item)) => {
            Decorator::parse(item).and_then(|decorator| decorator.expand(&arguments))
        }
        None => syn::parse2(item.clone()).map(|function| retry_function(arguments, function)),
    };
    expanded.unwrap_or_else(|error| {
        let error = error.into_compile_error();
        quote!(#item #error)
    })
}

fn retry_function(arguments: Arguments, function: Function) -> proc_macro2::TokenStream {
    let mut errors = Errors::default();
    check::check(&arguments, &function, &mut errors);
    match errors.into_compile_error() {
        None => expand::expand(&Model::new(arguments, function)),
        // The function stays, so that editors and the rest of the program see it.
        Some(errors) => quote!(#function #errors),
    }
}

/// Says of each variant of an error type whether it is worth a retry. See the documentation of
/// `retry_runtime::Classify`.
#[proc_macro_derive(Classify, attributes(classify))]
pub fn derive_classify(item: TokenStream) -> TokenStream {
    let tokens = syn::parse(item).map(|item| {
        // The `impl` stays, so that its absence is not complained about as well.
        classify::derive(&item).unwrap_or_else(|errors| {
            let errors = errors.into_compile_error();
            let stand_in = classify::stand_in(&item);
            quote!(#errors #stand_in)
        })
    });
    tokens.unwrap_or_else(syn::Error::into_compile_error).into()
}
