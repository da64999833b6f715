//! The function that `#[retry]` stands on.

pub(crate) mod check;
pub(crate) mod function;
pub(crate) mod outcome;
pub(crate) mod wrapped_body;
