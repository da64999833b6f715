//! Tests of the macros' output and errors without the compiler. `tests/ui` tests with the compiler.

#[cfg_attr(not(feature = "stream"), allow(dead_code))]
#[path = "../../tests/ui/cases.rs"]
mod cases;
mod fuzz;
#[cfg(feature = "stream")]
mod grouped;
mod half_typed;
#[cfg(feature = "stream")]
mod pairs;
#[cfg(feature = "stream")]
mod refusals;
mod snapshots;

use std::cell::RefCell;
use std::collections::HashMap;
use std::path::{Path, PathBuf};

use proc_macro2::TokenStream;

/// A folder of programs in `tests/ui`.
fn folder(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../tests/ui")
        .join(name)
}

/// The tokens of a template. Lexes each template once per thread, because this takes most of the time of an expansion.
pub(crate) fn lexed(text: &'static str) -> TokenStream {
    thread_local! {
        static LEXED: RefCell<HashMap<&'static str, TokenStream>> = RefCell::default();
    }
    let lex = || text.parse().expect("the tokens of a macro");
    LEXED.with_borrow_mut(|lexed| lexed.entry(text).or_insert_with(lex).clone())
}
