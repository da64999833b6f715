//! The effects of keys: in the attribute, in `retrying!`, in a chain, in every form.
//!
//! Separate from `main.rs`, so that two cores can compile the package.

mod chain;
mod conformance;
mod evaluations;
mod expressions;
mod forms;
mod hedge;
mod keys;
mod limiters;
mod own_function;
mod own_loop;
