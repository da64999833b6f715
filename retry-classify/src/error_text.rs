//! Errors as text, with their causes, shortened and without secrets.

pub(crate) mod chain;
pub(crate) mod secrets;
pub(crate) mod shown;
mod urls;

use alloc::string::String;
use core::fmt::{self, Write};

/// If a `Display` fails, what it wrote before is kept.
fn text_of(text: &dyn fmt::Display) -> String {
    let mut said = String::new();
    let _ = write!(said, "{text}");
    said
}
