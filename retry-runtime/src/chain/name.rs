//! Default names of a chain.

use core::any::type_name;

/// The path of the function that contains this closure.
#[cfg(feature = "batch")]
pub(crate) fn place_of_closure<F>(_: &F) -> &'static str {
    place_of::<F>()
}

/// The path of the function that contains a closure of this type.
pub(crate) fn place_of<F>() -> &'static str {
    without_closures(type_name::<F>())
}

/// The path of the enclosing function, without closures.
pub(crate) fn without_closures(mut name: &str) -> &str {
    // `trim_end_matches` would compile its searcher: fifteen hundred instructions.
    while let Some(around) = name.strip_suffix("::{{closure}}") {
        name = around;
    }
    name
}
