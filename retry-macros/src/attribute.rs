//! What stands in the parentheses of `#[retry(…)]`.

pub(crate) mod argument;
pub(crate) mod check;
pub(crate) mod expression;
mod merge;
mod number;
mod parse;
mod says;
mod value;
pub(crate) mod word;
