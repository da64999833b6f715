//! `#[derive(Classify)]`: turns the marks on variants into verdicts, and these into a `match`.

mod expand;
mod mark;

pub(crate) use expand::derive;
