//! Tests of the macros' output and errors without the compiler. `tests/ui` tests them with the compiler.

#[cfg_attr(not(feature = "stream"), allow(dead_code))]
#[path = "../../tests/ui/cases.rs"]
mod cases;
mod fuzz;
#[cfg(feature = "stream")]
mod grouped;
mod half_typed;
#[cfg(feature = "stream")]
mod pairs;
#[cfg(feature = "stream")]
mod refusals;
mod snapshots;

use std::path::{Path, PathBuf};

/// A folder of programs in `tests/ui`.
fn folder(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../tests/ui")
        .join(name)
}
