//! Default names of a chain.

use core::any::type_name;

/// The function that this closure is written in.
#[cfg(feature = "batch")]
pub(crate) fn place_of_closure<F>(_: &F) -> &'static str {
    place_of::<F>()
}

/// The function that a closure of this type is written in.
pub(crate) fn place_of<F>() -> &'static str {
    without_closures(type_name::<F>())
}

/// The function that something of that name is in, also if it is in closures.
pub(crate) fn without_closures(mut name: &str) -> &str {
    // The searcher of `trim_end_matches` would take fifteen hundred instructions.
    while let Some(around) = name.strip_suffix("::{{closure}}") {
        name = around;
    }
    name
}
