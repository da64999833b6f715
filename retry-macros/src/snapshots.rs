//! What is generated for a few functions, as files that a reviewer can read and diff: `tests/expand/`.
//!
//! `UPDATE_EXPECT=1 cargo test -p retry-macros` writes them anew.

use std::fs;
use std::path::Path;

use expect_test::expect_file;
use quote::ToTokens;
use syn::{Attribute, ImplItem, Item, Meta};

/// Expands the `#[retry]` of a function, or of the first method in an `impl`.
fn expand(item: &mut Item) {
    let (attributes, tokens) = match item {
        Item::Fn(function) => (&mut function.attrs, None),
        Item::Impl(block) => match &mut block.items[0] {
            ImplItem::Fn(method) => (&mut method.attrs, Some(())),
            _ => return,
        },
        _ => return,
    };
    let Some(index) = attributes.iter().position(is_retry) else {
        return;
    };
    let arguments = match attributes.remove(index).meta {
        Meta::List(list) => list.tokens,
        _ => proc_macro2::TokenStream::new(),
    };
    match (item, tokens) {
        (Item::Impl(block), Some(())) => {
            let method = block.items[0].to_token_stream();
            let expanded = crate::try_retry(arguments, method).unwrap();
            block.items[0] = syn::parse2(expanded).unwrap();
        }
        (item, _) => {
            let expanded = crate::try_retry(arguments, item.to_token_stream()).unwrap();
            *item = syn::parse2(expanded).unwrap();
        }
    }
}

fn is_retry(attribute: &Attribute) -> bool {
    attribute.path().is_ident("retry")
}

fn check(name: &str) {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/expand");
    let source = fs::read_to_string(folder.join(format!("{name}.rs"))).unwrap();
    let mut file = syn::parse_file(&source).unwrap();
    file.items.iter_mut().for_each(expand);
    let expanded = prettyplease::unparse(&file);
    expect_file![folder.join(format!("{name}.expanded.rs"))].assert_eq(&expanded);
}

#[test]
fn minimal() {
    check("minimal");
}

#[test]
fn blocking() {
    check("blocking");
}

#[test]
fn every_key() {
    check("every_key");
}

#[test]
fn returned_future() {
    check("returned_future");
}

#[test]
fn async_trait() {
    check("async_trait");
}

#[cfg(feature = "stream")]
#[test]
fn streams() {
    check("streams");
}
