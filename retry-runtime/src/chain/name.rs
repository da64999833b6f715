//! Default names of a chain.

use core::any::type_name;

/// The path of the function that contains a closure of this type.
pub fn place_of<F>() -> &'static str {
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
