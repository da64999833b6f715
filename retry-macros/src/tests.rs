//! What the macros print and refuse, tested without the compiler. `tests/ui` tests with it.

mod fuzz;
#[cfg(feature = "stream")]
mod grouped;
mod half_typed;
#[cfg(feature = "stream")]
mod pairs;
#[cfg(feature = "stream")]
mod refusals;
mod snapshots;
