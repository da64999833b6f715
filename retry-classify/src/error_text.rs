//! Errors as text, with their causes, cut, and without secrets.

pub(crate) mod chain;
pub(crate) mod secrets;
pub(crate) mod shown;
mod urls;

use alloc::string::String;
use core::fmt::{self, Write};

/// A `Display` that fails has said what it could.
fn text_of(text: &dyn fmt::Display) -> String {
    let mut said = String::new();
    let _ = write!(said, "{text}");
    said
}
