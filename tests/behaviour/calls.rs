//! What a call does by its keys: in the attribute, in `retrying!`, in a chain, in every form.
//!
//! Apart from `main.rs`, so that two cores compile the package.

mod chain;
mod conformance;
mod evaluations;
mod expressions;
mod forms;
mod hedge;
mod keys;
mod limiters;
mod own_loop;
