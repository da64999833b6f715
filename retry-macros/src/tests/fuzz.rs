//! The macros don't panic on any tokens, and their output contains the user's functions.
//!
//! The corpus consists of the programs in `tests/ui`; each case changes a few of their tokens. `FUZZ_SECONDS=600` makes
//! each test run for ten minutes.

use std::collections::BTreeSet;
use std::env;
use std::time::{Duration, Instant};

use proc_macro2::{Delimiter, Group, TokenStream, TokenTree};
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::{Index, select};
use proptest::test_runner::{Config, RngAlgorithm, TestCaseResult, TestRng, TestRunner};
use quote::{ToTokens, quote};
use syn::Attribute;

use super::cases::tables;
use super::folder;

/// An item and the attribute above it.
#[derive(Clone, Debug)]
struct Seed {
    arguments: String,
    item: String,
}

/// The items of the corpus under `#[retry]`, or with a derive.
fn corpus(is_seed: fn(&Attribute) -> bool) -> Vec<Seed> {
    let tables = ["fail", "refused"].map(|name| tables(&folder(name)));
    let cases = tables.iter().flatten().flat_map(|(_, cases)| cases);
    // Some of these programs have syntax errors.
    let files = cases.filter_map(|case| syn::parse_file(&case.program()).ok());
    let items = files.flat_map(|file| file.items);
    let seeds: Vec<_> = items.filter_map(|item| seed(item, is_seed)).collect();
    assert!(!seeds.is_empty());
    seeds
}

fn seed(mut item: syn::Item, is_seed: fn(&Attribute) -> bool) -> Option<Seed> {
    let attributes = match &mut item {
        syn::Item::Fn(item) => &mut item.attrs,
        syn::Item::Impl(item) => &mut item.attrs,
        syn::Item::Trait(item) => &mut item.attrs,
        syn::Item::Enum(item) => &mut item.attrs,
        syn::Item::Struct(item) => &mut item.attrs,
        _ => return None,
    };
    let index = attributes.iter().position(is_seed)?;
    let arguments = match attributes.remove(index).meta {
        syn::Meta::List(list) => list.tokens,
        _ => TokenStream::new(),
    };
    Some(Seed {
        arguments: arguments.to_string(),
        item: item.to_token_stream().to_string(),
    })
}

/// A change to one token, including those in groups.
#[derive(Clone, Debug)]
struct Change {
    at: Index,
    edit: Edit,
}

#[derive(Clone, Debug)]
enum Edit {
    Remove,
    Repeat,
    Insert(&'static str),
    Replace(&'static str),
    Enclose(Delimiter),
    Open,
}

const TOKENS: &str = "max base backoff jitter on until timeout deadline attempt validate correct policy \
    throttled invalid rejected stream wrapper of crate skip name fallback give_up observe timer budget \
    breaker limiter hedge span repeats hint classify transient after transparent = == => , ,, \
    :: . .. | || -> < > & &mut - ! ? # ; : 5 1.5 5s -1 \"exp\" \"1s\" \"\" 'a _ self Self \
    async await move fn impl dyn trait const unsafe extern where return r#fn Result Pin Box \
    Future Stream BoxFuture Output Item () [] {} [retry] #![allow(unused)] #[retry(skip)]";

const PHRASES: &[&str] = &[
    "|_| true",
    "(max = 5)",
    "= |x| async move { x }",
    "fn f() {}",
    "-> Result<(), E>",
];

fn changes() -> impl Strategy<Value = Vec<Change>> {
    let delimiter = select(
        &[
            Delimiter::Parenthesis,
            Delimiter::Brace,
            Delimiter::Bracket,
            Delimiter::None,
        ][..],
    );
    let tokens = TOKENS.split(' ').chain(PHRASES.iter().copied());
    let tokens = select(tokens.collect::<Vec<_>>());
    let edit = prop_oneof![
        Just(Edit::Remove),
        Just(Edit::Repeat),
        Just(Edit::Open),
        tokens.clone().prop_map(Edit::Insert),
        tokens.prop_map(Edit::Replace),
        delimiter.prop_map(Edit::Enclose),
    ];
    vec(
        (any::<Index>(), edit).prop_map(|(at, edit)| Change { at, edit }),
        0..5,
    )
}

fn count(tokens: &TokenStream) -> usize {
    let mut all = 0;
    for token in tokens.clone() {
        all += 1;
        if let TokenTree::Group(group) = token {
            all += count(&group.stream());
        }
    }
    all
}

fn changed(tokens: &str, changes: &[Change]) -> TokenStream {
    let mut tokens: TokenStream = tokens.parse().unwrap();
    for change in changes {
        let mut at = Some(change.at.index(count(&tokens) + 1));
        tokens = apply_edit(tokens, &mut at, &change.edit);
    }
    tokens
}

fn apply_edit(tokens: TokenStream, at: &mut Option<usize>, edit: &Edit) -> TokenStream {
    let mut out = TokenStream::new();
    for token in tokens {
        match at {
            Some(0) => {
                *at = None;
                out.extend(edit_token(token, edit));
                continue;
            }
            Some(left) => *left -= 1,
            None => {}
        }
        out.extend([match token {
            TokenTree::Group(group) if at.is_some() => {
                let inner = apply_edit(group.stream(), at, edit);
                TokenTree::Group(Group::new(group.delimiter(), inner))
            }
            token => token,
        }]);
    }
    out
}

fn edit_token(token: TokenTree, edit: &Edit) -> TokenStream {
    let whole = TokenStream::from(token.clone());
    match edit {
        Edit::Remove => TokenStream::new(),
        Edit::Repeat => TokenStream::from_iter([whole.clone(), whole]),
        Edit::Insert(before) => TokenStream::from_iter([before.parse().unwrap(), whole]),
        Edit::Replace(by) => by.parse().unwrap(),
        Edit::Enclose(delimiter) => TokenTree::Group(Group::new(*delimiter, whole)).into(),
        Edit::Open => match token {
            TokenTree::Group(group) => group.stream(),
            _ => whole,
        },
    }
}

/// The names after `fn`, except in attributes, which the macros remove.
fn functions(tokens: TokenStream, found: &mut BTreeSet<String>) {
    let (mut is_after_fn, mut is_after_hash) = (false, false);
    for token in tokens {
        match &token {
            TokenTree::Ident(ident) if is_after_fn => {
                found.insert(ident.to_string());
            }
            TokenTree::Group(group) if !is_after_hash => functions(group.stream(), found),
            _ => {}
        }
        is_after_fn = matches!(&token, TokenTree::Ident(ident) if !is_after_fn && ident == "fn");
        is_after_hash = matches!(&token, TokenTree::Punct(punct) if punct.as_char() == '#');
    }
}

/// Runs 256 cases that are always the same, and then random ones until `FUZZ_SECONDS` have passed.
fn fuzz(seeds: Vec<Seed>, check: fn(TokenStream, TokenStream) -> TestCaseResult) {
    let config = Config {
        cases: 256,
        failure_persistence: None,
        ..Config::default()
    };
    let seconds = env::var("FUZZ_SECONDS").map_or(0, |seconds| seconds.parse().unwrap());
    let end = Instant::now() + Duration::from_secs(seconds);
    let fixed = TestRng::deterministic_rng(RngAlgorithm::ChaCha);
    let mut runner = TestRunner::new_with_rng(config.clone(), fixed);
    // Combines any attribute with any item, not only with its own.
    let cases = (select(seeds.clone()), select(seeds), changes(), changes());
    loop {
        let result = runner.run(&cases, |(arguments, item, of_arguments, of_item)| {
            let arguments = changed(&arguments.arguments, &of_arguments);
            check(arguments, changed(&item.item, &of_item))
        });
        if let Err(failure) = result {
            panic!("{failure}");
        }
        if Instant::now() >= end {
            return;
        }
        runner = TestRunner::new(config.clone());
    }
}

#[test]
fn no_function_is_lost_and_nothing_panics() {
    fuzz(
        corpus(|attribute| attribute.path().is_ident("retry")),
        |arguments, item| {
            let text = format!("#[retry({arguments})] {item}");
            let (mut given, mut expanded) = (BTreeSet::new(), BTreeSet::new());
            functions(item.clone(), &mut given);
            let is_copy = arguments.to_string().contains("of");
            functions(crate::retry_item(arguments, item), &mut expanded);
            // A copy of another crate's trait is parsed but not emitted.
            prop_assert!(
                is_copy || given.is_subset(&expanded),
                "{:?} of {}",
                expanded,
                text
            );
            Ok(())
        },
    );
}

#[test]
fn no_block_is_lost_and_nothing_panics() {
    fuzz(
        corpus(|attribute| attribute.path().is_ident("retry")),
        |arguments, block| {
            for words in [
                "",
                "async",
                "async move",
                "async -> Result<T, E>",
                "-> Result<T, E>",
            ] {
                let text = format!("{arguments}, {words} {{ {block} }}");
                let (mut given, mut expanded) = (BTreeSet::new(), BTreeSet::new());
                functions(block.clone(), &mut given);
                let (arguments, words): (_, TokenStream) =
                    (arguments.clone(), words.parse().unwrap());
                let tokens = quote!(#arguments, #words { #block });
                functions(crate::retry_expression(tokens), &mut expanded);
                prop_assert!(given.is_subset(&expanded), "{expanded:?} of {text}");
            }
            crate::retry_expression(quote!(#arguments #block));
            Ok(())
        },
    );
}

#[test]
fn the_derive_does_not_panic() {
    fuzz(
        corpus(|attribute| attribute.path().is_ident("derive")),
        |_, item| {
            crate::derive_item(item, "retry_runtime");
            Ok(())
        },
    );
}
