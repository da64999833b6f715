//! Errors as text: what each says of itself and of its causes, cut, and without secrets.

pub(crate) mod chain;
pub(crate) mod secrets;
pub(crate) mod shown;
mod start;
mod urls;
