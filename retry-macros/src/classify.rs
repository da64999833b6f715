//! `#[derive(Classify)]`: marks on variants → a verdict for each → a `match`.

mod expand;
mod mark;

pub(crate) use expand::derive;
