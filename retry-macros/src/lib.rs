//! The macros of [`retry-runtime`](https://docs.rs/retry-runtime): `#[retry]` and `#[derive(Classify)]`.
//! Depend on that crate, which re-exports them.

// `syn` and `proc_macro2` types are passed by value as their own functions do.
#![allow(clippy::needless_pass_by_value)]

mod argument;
mod body;
mod check;
mod classify;
mod expand;
mod function;
mod key;
mod literal;
mod model;
mod nearest;
mod outcome;
mod parse;
mod retry_loop;
#[cfg(test)]
mod snapshots;
mod stream;

use proc_macro::TokenStream;
use quote::quote;

use crate::function::Function;
use crate::model::Model;
use crate::parse::Arguments;

/// Makes every call of a function survive transient failure. See the documentation of `retry_runtime`.
#[proc_macro_attribute]
pub fn retry(arguments: TokenStream, item: TokenStream) -> TokenStream {
    let item = proc_macro2::TokenStream::from(item);
    let tokens = match try_retry(arguments.into(), item.clone()) {
        Ok(tokens) => tokens,
        Err(errors) => {
            // The item stays, so that editors and the rest of the program see it.
            let errors = errors.into_compile_error();
            quote!(#item #errors)
        }
    };
    tokens.into()
}

fn try_retry(
    arguments: proc_macro2::TokenStream,
    item: proc_macro2::TokenStream,
) -> syn::Result<proc_macro2::TokenStream> {
    let function: Function = syn::parse2(item)?;
    let arguments = Arguments::parse(arguments);
    check::check(&arguments, &function)?;
    Ok(expand::expand(&Model::new(arguments, function)))
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
