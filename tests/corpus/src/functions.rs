//! The fallible functions in a crate's source, and the code that is written into them.

use std::fs;
use std::ops::Range;
use std::path::{Path, PathBuf};

use proc_macro2::TokenStream;
use quote::ToTokens;
use syn::spanned::Spanned;
use syn::visit::Visit;
use syn::{Attribute, Block, ImplItemFn, ItemFn, ReturnType, Signature, TraitItemFn};

/// The way in which a body returns an attempt's outcome.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Shape {
    Blocking,
    Async,
    /// It returns an `impl Future`.
    Future,
    /// It returns a future in a box.
    BoxedFuture,
}

pub(crate) struct Function {
    pub(crate) file: PathBuf,
    pub(crate) name: String,
    pub(crate) shape: Shape,
    pub(crate) returned: String,
    pub(crate) block: Block,
    /// The offset of the end of the attributes and the start of the item, in bytes.
    pub(crate) start: usize,
    pub(crate) lines: Range<usize>,
}

/// A change of a file's text: what replaces the bytes in that range.
pub(crate) type Edit = (Range<usize>, String);

/// All fallible functions in the files of a folder.
pub(crate) fn of(source: &Path) -> Vec<Function> {
    let mut found = Vec::new();
    let mut folders = vec![source.to_path_buf()];
    while let Some(folder) = folders.pop() {
        let entries = fs::read_dir(&folder).expect("a folder");
        let mut paths: Vec<_> = entries
            .map(|entry| entry.expect("an entry").path())
            .collect();
        paths.sort();
        for path in paths {
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|extension| extension == "rs") {
                let text = fs::read_to_string(&path).expect("a file");
                if let Ok(file) = syn::parse_file(&text) {
                    let mut functions = Functions { path, found };
                    functions.visit_file(&file);
                    found = functions.found;
                }
            }
        }
    }
    found
}

struct Functions {
    path: PathBuf,
    found: Vec<Function>,
}

impl Functions {
    /// `before` is the part of an item between its attributes and its signature.
    fn add(
        &mut self,
        attributes: &[Attribute],
        before: TokenStream,
        signature: &Signature,
        block: &Block,
    ) {
        let ReturnType::Type(_, returned) = &signature.output else {
            return;
        };
        let returned = returned.to_token_stream().to_string();
        let Some(shape) = shape(&returned, signature.asyncness.is_some()) else {
            return;
        };
        let mut item = before;
        signature.to_tokens(&mut item);
        let start = item.into_iter().next().expect("a token").span();
        let first = attributes.first().map_or(start, Spanned::span);
        self.found.push(Function {
            file: self.path.clone(),
            name: signature.ident.to_string(),
            shape,
            returned,
            block: block.clone(),
            start: start.byte_range().start,
            lines: first.start().line..block.span().end().line + 1,
        });
    }
}

impl Visit<'_> for Functions {
    fn visit_item_fn(&mut self, item: &ItemFn) {
        let before = item.vis.to_token_stream();
        self.add(&item.attrs, before, &item.sig, &item.block);
    }

    fn visit_impl_item_fn(&mut self, item: &ImplItemFn) {
        let before = item.vis.to_token_stream();
        self.add(&item.attrs, before, &item.sig, &item.block);
    }

    fn visit_trait_item_fn(&mut self, item: &TraitItemFn) {
        if let Some(block) = &item.default {
            self.add(&item.attrs, TokenStream::new(), &item.sig, block);
        }
    }
}

/// Returns how a function can fail, if it can, by the names in its return type.
fn shape(returned: &str, is_async: bool) -> Option<Shape> {
    let words: Vec<_> = returned
        .split(|c: char| !(c.is_alphanumeric() || c == '_'))
        .collect();
    let fails = words.iter().any(|word| word.ends_with("Result"));
    let is_future = words.iter().any(|word| word.ends_with("Future"));
    let before = returned.split('<').next().unwrap_or_default();
    if is_async {
        return before.trim().ends_with("Result").then_some(Shape::Async);
    }
    if before.trim().ends_with("Result") {
        return Some(Shape::Blocking);
    }
    match (fails && is_future, returned.starts_with("impl ")) {
        (true, true) => Some(Shape::Future),
        (true, false) => Some(Shape::BoxedFuture),
        (false, _) => None,
    }
}

/// A text with the edits made.
pub(crate) fn edited(text: &str, mut edits: Vec<Edit>) -> String {
    edits.sort_by_key(|(range, _)| (range.start, range.end));
    let mut out = String::with_capacity(text.len());
    let mut at = 0;
    for (range, new) in edits {
        out.push_str(&text[at..range.start]);
        out.push_str(&new);
        at = range.end;
    }
    out.push_str(&text[at..]);
    out
}
