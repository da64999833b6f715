//! The generated code of a few functions, as files that a reviewer can read and diff: `tests/expand/`.
//!
//! `UPDATE_EXPECT=1 cargo test -p retry-macros` updates them.

use std::fs;
use std::path::Path;

use expect_test::expect_file;
use proc_macro2::{Group, TokenStream, TokenTree};
use quote::ToTokens;
use syn::{Attribute, File, ImplItem, Item, Meta};

use crate::target::function::is_retry;

/// Expands the `#[retry]` of an item, or of the first method in an `impl`. In a function without `#[retry]`, expands
/// each `retrying!`.
fn expand(item: Item) -> TokenStream {
    match item {
        Item::Impl(mut block) => {
            let attributes = match &mut block.items[0] {
                ImplItem::Fn(method) => &mut method.attrs,
                _ => panic!("no method"),
            };
            let arguments = take_retry(attributes);
            let method = block.items[0].to_token_stream();
            let expanded = crate::retry_item(arguments.unwrap_or_default(), method);
            block.items[0] = syn::parse2(expanded).unwrap();
            block.to_token_stream()
        }
        mut item => {
            let attributes = match &mut item {
                Item::Fn(function) => &mut function.attrs,
                Item::Trait(item) => &mut item.attrs,
                _ => panic!("neither a function nor a trait"),
            };
            match take_retry(attributes) {
                Some(arguments) => crate::retry_item(arguments, item.to_token_stream()),
                None => expand_within(item.to_token_stream()),
            }
        }
    }
}

/// Expands each `retrying!(…)`.
fn expand_within(tokens: TokenStream) -> TokenStream {
    let mut expanded: Vec<TokenTree> = Vec::new();
    for token in tokens {
        let TokenTree::Group(group) = token else {
            expanded.push(token);
            continue;
        };
        if let [.., TokenTree::Ident(name), TokenTree::Punct(bang)] = expanded.as_slice()
            && name == "retrying"
            && bang.as_char() == '!'
        {
            expanded.truncate(expanded.len() - 2);
            expanded.extend(crate::retry_expression(group.stream()));
        } else {
            let within = expand_within(group.stream());
            expanded.push(Group::new(group.delimiter(), within).into());
        }
    }
    expanded.into_iter().collect()
}

/// Removes `#[retry(…)]` and returns its arguments.
fn take_retry(attributes: &mut Vec<Attribute>) -> Option<TokenStream> {
    let index = attributes.iter().position(is_retry)?;
    match attributes.remove(index).meta {
        Meta::List(list) => Some(list.tokens),
        _ => Some(TokenStream::new()),
    }
}

fn check(name: &str) {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/expand");
    let source = fs::read_to_string(folder.join(format!("{name}.rs"))).unwrap();
    let mut file = syn::parse_file(&source).unwrap();
    let items: TokenStream = file.items.drain(..).map(expand).collect();
    file.items = syn::parse2::<File>(items).unwrap().items;
    let expanded = prettyplease::unparse(&file);
    expect_file![folder.join(format!("{name}.expanded.txt"))].assert_eq(&expanded);
}

macro_rules! snapshots {
    ($($(#[$condition:meta])? $name:ident)*) => {
        $(
            #[test]
            $(#[$condition])?
            fn $name() {
                check(stringify!($name));
            }
        )*
    };
}

snapshots! {
    minimal
    blocking
    every_key
    validated
    corrected
    breaker
    limiter
    five_keys
    rejected
    hedge
    spans
    expression
    returned_future
    decorator
    async_trait
    #[cfg(feature = "stream")]
    streams
}
