//! Programs that don't need a separate crate, as one program, because linking each would take longer than compiling it.

use std::cell::Cell;

/// Counts the attempt, and fails.
pub(crate) fn fail(attempts: &Cell<u32>) -> Result<u32, u32> {
    attempts.set(attempts.get() + 1);
    Err(attempts.get())
}

/// Counts the attempt, and fails before the third.
pub(crate) fn third(attempts: &Cell<u32>) -> Result<u32, u32> {
    fail(attempts).or_else(|attempt| {
        if attempt < 3 {
            Err(attempt)
        } else {
            Ok(attempt)
        }
    })
}

macro_rules! programs {
    ($($program:ident)*) => {
        $(pub mod $program;)*

        fn main() {
            $($program::main();)*
        }
    };
}

programs! {
    blocks
    bodies_without_warnings
    cfg_on_arguments
    constants_under_names_of_the_expansion
    decorator_below_async_trait
    decorators
    derive_classify
    functions_in_variables
    functions_under_names_of_the_expansion
    made_by_macro_rules
    names
    names_of_the_expansion
    shadowed_prelude
    signatures
    streams
    traits_with_the_same_method_names
    unsafe_fn
    values_of_keys
}
