//! `#[retry]` on items with members: `impl` blocks and traits.

pub(crate) mod decorator;
pub(crate) mod impl_block;
pub(crate) mod members;
