//! `retry_runtime::testing`, as users' tests use it.

mod recorder;
mod scope;
mod script;
