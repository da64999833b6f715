//! The target: the function under `#[retry]`, or the block of `retrying!`.

pub(crate) mod check;
pub(crate) mod expression;
pub(crate) mod function;
mod moved_part;
pub(crate) mod outcome;
pub(crate) mod wrapped_body;
