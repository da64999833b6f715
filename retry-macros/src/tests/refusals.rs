//! The programs in `tests/ui/refused`, which the macros reject: checks each message and its location. Errors that only
//! the compiler can report are in `tests/ui/fail`.
//!
//! `UPDATE_EXPECT=1 cargo test -p retry-macros --features stream` updates the messages.

use std::collections::BTreeSet;
use std::fmt::Write;
use std::ops::Range;

use proc_macro2::{Delimiter, LineColumn, TokenStream, TokenTree};
use syn::LitStr;

use super::cases::{Case, check};
use super::folder;

/// An attribute, without its `#`: `[retry(max = 5)]`.
struct Attribute {
    name: String,
    arguments: TokenStream,
}

impl Attribute {
    fn parse(hash: &TokenTree, brackets: &TokenTree) -> Option<Self> {
        let (TokenTree::Punct(hash), TokenTree::Group(brackets)) = (hash, brackets) else {
            return None;
        };
        if hash.as_char() != '#' || brackets.delimiter() != Delimiter::Bracket {
            return None;
        }
        let mut attribute = Self {
            name: String::new(),
            arguments: TokenStream::new(),
        };
        for token in brackets.stream() {
            match token {
                TokenTree::Ident(segment) => attribute.name = segment.to_string(),
                TokenTree::Group(group) => attribute.arguments = group.stream(),
                _ => {}
            }
        }
        Some(attribute)
    }

    fn derives_classify(&self) -> bool {
        let mut derived = self.arguments.clone().into_iter();
        self.name == "derive" && derived.any(|derived| derived.to_string() == "Classify")
    }
}

/// A `compile_error!` and its location.
struct Refusal {
    message: String,
    place: Range<LineColumn>,
}

/// Expands the macros in a program, nested ones included, and collects the errors that they report.
fn expand(tokens: TokenStream, refusals: &mut Vec<Refusal>) {
    let mut expanded = Vec::new();
    visit(tokens, refusals, &mut expanded);
    for tokens in expanded {
        expand(tokens, refusals);
    }
}

/// Collects the `compile_error!`s, and expands the macros.
fn visit(tokens: TokenStream, refusals: &mut Vec<Refusal>, expanded: &mut Vec<TokenStream>) {
    let tokens: Vec<_> = tokens.into_iter().collect();
    let mut rest = &tokens[..];
    while let Some(first) = rest.first() {
        let mut length = 1;
        match (first, rest.get(2)) {
            (TokenTree::Group(group), _) => visit(group.stream(), refusals, expanded),
            (TokenTree::Punct(hash), _) if hash.as_char() == '#' => {
                length = expand_item(rest, expanded).unwrap_or(1);
            }
            (TokenTree::Ident(name), Some(TokenTree::Group(group))) if name == "retrying" => {
                expanded.push(crate::retry_expression(group.stream()));
                length = 3;
            }
            (TokenTree::Ident(name), Some(TokenTree::Group(group))) if name == "compile_error" => {
                let message = syn::parse2::<LitStr>(group.stream()).expect("a message");
                let message = message.value();
                let place = name.span().start()..group.span().end();
                refusals.push(Refusal { message, place });
            }
            _ => {}
        }
        rest = &rest[length..];
    }
}

/// Expands the macro on the item at the front, if there is one. Returns the number of the item's tokens.
fn expand_item(tokens: &[TokenTree], expanded: &mut Vec<TokenStream>) -> Option<usize> {
    let attributes: Vec<_> = tokens
        .chunks(2)
        .map_while(|pair| Attribute::parse(&pair[0], pair.get(1)?))
        .collect();
    let index = attributes
        .iter()
        .position(|attribute| attribute.name == "retry" || attribute.derives_classify())?;
    let after = 2 * attributes.len();
    let end = tokens[after..].iter().position(|token| match token {
        TokenTree::Group(group) => group.delimiter() == Delimiter::Brace,
        TokenTree::Punct(punct) => punct.as_char() == ';',
        _ => false,
    });
    let length = after + end.expect("an item ends") + 1;
    let (before, own) = tokens[..length].split_at(2 * index);
    let item = before.iter().chain(&own[2..]).cloned().collect();
    let attribute = &attributes[index];
    expanded.push(if attribute.derives_classify() {
        crate::derive_item(item, "retry_runtime")
    } else {
        crate::retry_item(attribute.arguments.clone(), item)
    });
    Some(length)
}

/// The errors of the macros in a program.
pub(crate) fn messages(program: TokenStream) -> BTreeSet<String> {
    let mut refusals = Vec::new();
    expand(program, &mut refusals);
    refusals
        .into_iter()
        .map(|refusal| refusal.message)
        .collect()
}

/// The program with each refusal below its line: carets below the tokens, and the message.
fn annotated(case: &Case) -> String {
    let program = case.program();
    let mut refusals = Vec::new();
    expand(program.parse().expect("tokens"), &mut refusals);
    assert!(!refusals.is_empty(), "{} is accepted", case.name);
    let mut lines: Vec<_> = program.lines().map(|line| format!("{line}\n")).collect();
    let mut last = 0;
    for Refusal { message, place } in refusals {
        let Range { start, end } = place;
        assert_eq!(start.line, end.line, "{message} spans lines");
        assert_ne!(start, end, "{message} has no place");
        assert!(last <= start.line, "{message} is reported too late");
        last = start.line;
        let (indent, carets) = (
            " ".repeat(start.column),
            "^".repeat(end.column - start.column),
        );
        writeln!(lines[start.line - 1], "{indent}{carets} {message}").expect("a string");
    }
    lines.concat()
}

#[test]
fn programs_are_refused_with_the_reason() {
    check(&folder("refused"), annotated);
}
