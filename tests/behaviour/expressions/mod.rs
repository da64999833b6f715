//! `retrying!`: the attribute's loop around a block.

// The shapes under test are what these lints would have written otherwise.
#![allow(
    clippy::needless_pass_by_value,
    clippy::needless_question_mark,
    clippy::trivially_copy_pass_by_ref
)]

mod captures;
mod keys;
mod names;
mod types;
