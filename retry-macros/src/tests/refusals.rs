//! The programs in `tests/ui/refused/`, which the macros reject: checks each message and its location, printed as the
//! compiler would. Errors that only the compiler can report are in `tests/ui/fail/`.
//!
//! `UPDATE_EXPECT=1 cargo test -p retry-macros --features stream` updates the expected output.

use std::collections::BTreeSet;
use std::fmt::Write;
use std::fs;
use std::iter::repeat_n;
use std::ops::Range;
use std::path::{Display, Path, PathBuf};

use expect_test::expect_file;
use proc_macro2::{Delimiter, LineColumn, TokenStream, TokenTree};
use syn::LitStr;

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
    let tokens: Vec<_> = tokens.into_iter().collect();
    let mut rest = &tokens[..];
    while let Some(first) = rest.first() {
        let expanded = expand_item(rest, refusals).or_else(|| expand_expression(rest, refusals));
        if let (None, TokenTree::Group(group)) = (expanded, first) {
            expand(group.stream(), refusals);
        }
        rest = &rest[expanded.unwrap_or(1)..];
    }
}

/// Expands the macro on the item at the front, if there is one. Returns the number of the item's tokens.
fn expand_item(tokens: &[TokenTree], refusals: &mut Vec<Refusal>) -> Option<usize> {
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
    let expanded = if attribute.derives_classify() {
        crate::derive_item(item, "retry_runtime")
    } else {
        crate::retry_item(attribute.arguments.clone(), item)
    };
    collect(&expanded, refusals);
    expand(expanded, refusals);
    Some(length)
}

/// Expands the `retrying!` at the front, if there is one. Returns the number of its tokens.
fn expand_expression(tokens: &[TokenTree], refusals: &mut Vec<Refusal>) -> Option<usize> {
    let [
        TokenTree::Ident(name),
        TokenTree::Punct(bang),
        TokenTree::Group(group),
        ..,
    ] = tokens
    else {
        return None;
    };
    if name != "retrying" || bang.as_char() != '!' {
        return None;
    }
    collect(&crate::retry_expression(group.stream()), refusals);
    Some(3)
}

/// Collects the `compile_error!`s, including nested ones.
fn collect(tokens: &TokenStream, refusals: &mut Vec<Refusal>) {
    let tokens: Vec<_> = tokens.clone().into_iter().collect();
    for (index, token) in tokens.iter().enumerate() {
        match token {
            TokenTree::Ident(name) if name == "compile_error" => {
                let Some(TokenTree::Group(argument)) = tokens.get(index + 2) else {
                    panic!("`compile_error` without an argument");
                };
                let message = syn::parse2::<LitStr>(argument.stream()).expect("a message");
                let place = name.span().start()..argument.span().end();
                refusals.push(Refusal {
                    message: message.value(),
                    place,
                });
            }
            TokenTree::Group(group) => collect(&group.stream(), refusals),
            _ => {}
        }
    }
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

impl Refusal {
    /// The refusal as the compiler prints it.
    fn print(&self, path: &Display<'_>, source: &str) -> String {
        let Range { start, end } = self.place;
        assert_eq!(start.line, end.line, "{path}: {} spans lines", self.message);
        assert_ne!(start, end, "{path}: {} has no place", self.message);
        let line = source
            .lines()
            .nth(start.line - 1)
            .expect("a line of the source");
        let number = start.line.to_string();
        let margin = " ".repeat(number.len());
        let mut text = format!("error: {}\n", self.message.replace('\n', "\n       "));
        let indent: String = repeat_n(' ', start.column).collect();
        let carets: String = repeat_n('^', end.column - start.column).collect();
        writeln!(text, "{margin}--> {path}:{number}:{}", start.column + 1).expect("a string");
        writeln!(
            text,
            "{margin} |\n{number} | {line}\n{margin} | {indent}{carets}"
        )
        .expect("a string");
        text
    }
}

fn entries(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).expect("a folder");
    let mut paths: Vec<_> = entries
        .map(|entry| entry.expect("an entry").path())
        .collect();
    paths.sort();
    paths
}

#[test]
fn programs_are_refused_with_the_reason() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/ui");
    let subjects = entries(&root.join("refused"));
    let mut programs: Vec<_> = subjects
        .iter()
        .flat_map(|subject| entries(subject))
        .collect();
    programs.retain(|path| path.extension().is_some_and(|extension| extension == "rs"));
    assert!(!programs.is_empty());
    for program in programs {
        let source = fs::read_to_string(&program).expect("a program");
        let mut refusals = Vec::new();
        expand(source.parse().expect("tokens"), &mut refusals);
        let path = program
            .strip_prefix(&root)
            .expect("a path within")
            .display();
        let printed: Vec<_> = refusals
            .iter()
            .map(|refusal| refusal.print(&path, &source))
            .collect();
        assert!(!printed.is_empty(), "{path} is accepted");
        expect_file![program.with_extension("stderr")].assert_eq(&printed.join("\n"));
    }
}
