//! What the macros print and refuse, asked without the compiler. `tests/ui` asks it.

mod fuzz;
#[cfg(feature = "stream")]
mod grouped;
mod half_typed;
#[cfg(feature = "stream")]
mod pairs;
#[cfg(feature = "stream")]
mod refusals;
mod snapshots;
