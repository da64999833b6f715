//! What compiles retries as it says, and what does not says why at the user's own tokens.

mod features;
mod tools;

#[test]
fn programs_are_accepted_or_refused_with_the_reason() {
    let programs = trybuild::TestCases::new();
    programs.pass("pass/*.rs");
    programs.compile_fail("fail/*/*.rs");
}
