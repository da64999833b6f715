//! Programs that must not compile, with errors at the user's own tokens. `tests/accepted` contains programs that
//! compile.

mod features;
mod tools;

use std::collections::BTreeSet;
use std::fs;

#[test]
fn programs_are_rejected_with_the_reason() {
    let programs = trybuild::TestCases::new();
    programs.compile_fail("fail/*/*.rs");
}

/// rustc quotes the standard library only if the component `rust-src` is installed.
#[test]
fn no_expected_error_quotes_the_standard_library() {
    let folders = fs::read_dir("fail").unwrap();
    let files = folders.flat_map(|folder| fs::read_dir(folder.unwrap().path()).unwrap());
    let paths: Vec<_> = files.map(|file| file.unwrap().path()).collect();
    let expected = paths
        .iter()
        .filter(|path| path.extension() == Some("stderr".as_ref()));
    let mut count = 0;
    for path in expected {
        count += 1;
        assert!(
            !fs::read_to_string(path).unwrap().contains("$RUST/"),
            "{} shows lines of the standard library: have the program use types of its own",
            path.display()
        );
    }
    assert!(count > 100, "{count} found");
}

#[test]
fn every_program_together_is_one_of_them() {
    let listed = include_str!("../accepted/together/main.rs");
    let listed: BTreeSet<_> = listed
        .lines()
        .filter_map(|line| line.strip_prefix("    "))
        .collect();
    let files = fs::read_dir("../accepted/together").unwrap();
    for file in files {
        let path = file.unwrap().path();
        let name = path.file_stem().unwrap().to_str().unwrap();
        assert!(
            name == "main" || listed.contains(name),
            "{name} is missing in tests/accepted/together/main.rs"
        );
    }
}
