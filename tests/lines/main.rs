//! Counts the code of each crate, without docs, comments, blank lines and tests, and fails if there is more than
//! `bounds.txt` allows.

use std::cmp::Ordering;
use std::collections::BTreeSet;
use std::error::Error;
use std::ffi::OsStr;
use std::fs;
use std::path::Path;
use std::process::ExitCode;

use proc_macro2::{Delimiter, Group, Span, TokenStream, TokenTree};
use quote::ToTokens;
use syn::spanned::Spanned;
use syn::visit::{self, Visit};
use syn::{Generics, ImplItemFn, ItemFn, TraitItemFn};

/// For each crate: the maximum number of lines of code, and for each rule, the maximum number of violations.
const BOUNDS: &str = include_str!("bounds.txt");

/// The most that a place may have, and of what.
const RULES: [(usize, &str); 3] = [
    (60, "lines in a function"),
    (4, "type parameters of an item"),
    (8, "lines in a `where` clause"),
];
const FUNCTION: usize = 0;
const TYPE_PARAMETERS: usize = 1;
const WHERE_CLAUSE: usize = 2;

/// The code of a crate.
#[derive(Default)]
struct Code {
    lines: usize,
    file: String,
    /// The places that break each rule.
    breaking: [Vec<String>; RULES.len()],
}

fn main() -> Result<ExitCode, Box<dyn Error>> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let mut is_within = true;
    for row in BOUNDS.lines().filter(|row| !row.starts_with('#')) {
        let mut cells = row.split_whitespace();
        let name = cells.next().ok_or("a row without a crate")?;
        let mut bound = || Ok::<usize, Box<dyn Error>>(cells.next().ok_or(row)?.parse()?);
        let mut code = Code::default();
        code.read(&root, &format!("{name}/src"))?;
        is_within &= show(code.lines, bound()?, &format!("lines of code in {name}"));
        for ((most, what), places) in RULES.iter().zip(&code.breaking) {
            let what = format!("places with more than {most} {what}");
            if !show(places.len(), bound()?, &what) {
                println!("{}", places.join("\n"));
                is_within = false;
            }
        }
    }
    Ok(if is_within {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    })
}

/// Prints a count, and returns whether it is within its bound.
fn show(count: usize, bound: usize, what: &str) -> bool {
    let hint = match count.cmp(&bound) {
        Ordering::Less => ": lower the bound",
        Ordering::Equal => "",
        Ordering::Greater => ": too many",
    };
    println!("{count:>6} of {bound:>5} {what}{hint}");
    count <= bound
}

impl Code {
    /// Adds all files of a folder.
    fn read(&mut self, root: &Path, folder: &str) -> Result<(), Box<dyn Error>> {
        for entry in fs::read_dir(root.join(folder))? {
            let path = entry?.path();
            let name = path.file_name().and_then(OsStr::to_str).ok_or("a name")?;
            let place = format!("{folder}/{name}");
            if name == "tests" || name == "tests.rs" {
                continue;
            }
            if path.is_dir() {
                self.read(root, &place)?;
            } else if path.extension().is_some_and(|extension| extension == "rs") {
                let code = without_tests(fs::read_to_string(&path)?.parse()?);
                self.lines += lines(code.clone());
                self.file = place;
                self.visit_file(&syn::parse2(code)?);
            }
        }
        Ok(())
    }

    fn check(&mut self, rule: usize, count: usize, at: Span) {
        let (most, _) = RULES[rule];
        if count > most {
            let (file, line) = (&self.file, at.start().line);
            self.breaking[rule].push(format!("  {file}:{line}: {count}"));
        }
    }

    fn check_lines(&mut self, rule: usize, code: &impl ToTokens, at: Span) {
        self.check(rule, lines(code.to_token_stream()), at);
    }
}

impl Visit<'_> for Code {
    fn visit_item_fn(&mut self, function: &ItemFn) {
        self.check_lines(FUNCTION, function, function.sig.span());
        visit::visit_item_fn(self, function);
    }

    fn visit_impl_item_fn(&mut self, function: &ImplItemFn) {
        self.check_lines(FUNCTION, function, function.sig.span());
        visit::visit_impl_item_fn(self, function);
    }

    fn visit_trait_item_fn(&mut self, function: &TraitItemFn) {
        self.check_lines(FUNCTION, function, function.sig.span());
        visit::visit_trait_item_fn(self, function);
    }

    fn visit_generics(&mut self, generics: &Generics) {
        let count = generics.type_params().count();
        self.check(TYPE_PARAMETERS, count, generics.span());
        if let Some(clause) = &generics.where_clause {
            self.check_lines(WHERE_CLAUSE, clause, clause.span());
        }
        visit::visit_generics(self, generics);
    }
}

/// Returns the number of lines that contain a token.
fn lines(code: TokenStream) -> usize {
    fn add(code: TokenStream, lines: &mut BTreeSet<usize>) {
        for token in code {
            let mut of = |span: Span| lines.extend(span.start().line..=span.end().line);
            match token {
                TokenTree::Group(group) => {
                    of(group.span_open());
                    of(group.span_close());
                    add(group.stream(), lines);
                }
                token => of(token.span()),
            }
        }
    }
    let mut numbers = BTreeSet::new();
    add(code, &mut numbers);
    numbers.len()
}

/// The code without docs, and without what only tests compile.
fn without_tests(code: TokenStream) -> TokenStream {
    let mut tokens = code.into_iter();
    let mut kept = Vec::new();
    while let Some(token) = tokens.next() {
        let TokenTree::Group(group) = token else {
            kept.push(token);
            continue;
        };
        match attribute(&kept, &group) {
            Some((start, text)) if text.starts_with("doc") => kept.truncate(start),
            Some((start, text)) if is_for_tests(&text) => {
                kept.truncate(start);
                let _item = tokens.find(ends_item);
            }
            _ => {
                let mut group_kept = Group::new(group.delimiter(), without_tests(group.stream()));
                group_kept.set_span(group.span());
                kept.push(group_kept.into());
            }
        }
    }
    kept.into_iter().collect()
}

/// The text in the brackets of an attribute, without spaces, and from which token on it is one.
fn attribute(before: &[TokenTree], group: &Group) -> Option<(usize, String)> {
    if group.delimiter() != Delimiter::Bracket {
        return None;
    }
    let is = |token: &TokenTree, sign| matches!(token, TokenTree::Punct(punct) if punct.as_char() == sign);
    let length = match before {
        [.., hash, bang] if is(hash, '#') && is(bang, '!') => 2,
        [.., hash] if is(hash, '#') => 1,
        _ => return None,
    };
    let text = group.stream().to_string().replace(' ', "");
    Some((before.len() - length, text))
}

fn is_for_tests(attribute: &str) -> bool {
    attribute == "cfg(test)" || attribute.starts_with("cfg(all(test,")
}

fn ends_item(token: &TokenTree) -> bool {
    match token {
        TokenTree::Group(group) => group.delimiter() == Delimiter::Brace,
        TokenTree::Punct(punct) => punct.as_char() == ';',
        _ => false,
    }
}
