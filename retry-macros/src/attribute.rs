//! The arguments in the parentheses of `#[retry(…)]`.

pub(crate) mod argument;
pub(crate) mod check;
pub(crate) mod expression;
mod parse;
pub(crate) mod value;
