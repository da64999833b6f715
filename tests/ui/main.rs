//! What compiles retries as it says, and what does not says why at the user's own tokens.

mod features;
mod tools;

use std::collections::BTreeSet;
use std::fs;

#[test]
fn programs_are_accepted() {
    let programs = trybuild::TestCases::new();
    programs.pass("pass/*.rs");
    programs.pass("pass/together/main.rs");
}

/// Apart from those that are accepted, so that Cargo checks all of them at once, and not one after another.
#[test]
fn programs_are_refused_with_the_reason() {
    let programs = trybuild::TestCases::new();
    programs.compile_fail("fail/*/*.rs");
}

#[test]
fn every_program_together_is_one_of_them() {
    let listed = include_str!("pass/together/main.rs");
    let listed: BTreeSet<_> = listed
        .lines()
        .filter_map(|line| line.strip_prefix("    "))
        .collect();
    let files = fs::read_dir("pass/together").unwrap();
    for file in files {
        let path = file.unwrap().path();
        let name = path.file_stem().unwrap().to_str().unwrap();
        assert!(
            name == "main" || listed.contains(name),
            "{name} is missing in pass/together/main.rs"
        );
    }
}
