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
    async_fn_in_trait
    blocks
    bodies_without_warnings
    cfg_on_arguments
    constants_under_names_of_the_expansion
    decorator_below_async_trait
    decorators
    derive_classify
    dyn_errors
    functions_in_variables
    functions_under_names_of_the_expansion
    generics
    impl_trait
    leaving_early
    macro_locals_apart
    made_by_macro_rules
    mutable_borrow_of_something_else_returned
    names_of_the_expansion
    nested
    no_arguments
    patterns_and_raw_names
    policy_in_a_pointer
    renamed_import
    shadowed_prelude
    streams
    traits_with_the_same_method_names
    unsafe_fn
    unsafe_operations_in_unsafe_fn
    values_in_parentheses
    values_of_the_arguments
}
