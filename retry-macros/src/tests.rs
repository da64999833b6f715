//! Tests of the macros' output and errors without the compiler. `tests/ui` tests with the compiler.

mod fuzz;
#[cfg(feature = "stream")]
mod grouped;
mod half_typed;
#[cfg(feature = "stream")]
mod pairs;
#[cfg(feature = "stream")]
mod refusals;
mod snapshots;
