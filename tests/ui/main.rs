//! Programs that must not compile, with errors at the user's own tokens. `tests/accepted` contains programs that
//! compile.

mod cases;
mod features;
mod tools;

use std::collections::BTreeSet;
use std::env;
use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use cases::{Case, ERRORS, check, tables};
use externs::externs;

/// The compiler's arguments for this test's own libraries.
const LIBRARIES: &[&str] = externs!();

const ROOT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../..");

/// Returns the program and the compiler's errors.
fn compiled(case: &Case) -> String {
    let program = case.program();
    let mut compiler = Command::new(env::var_os("RUSTC").unwrap_or("rustc".into()))
        .args(["-", "--crate-name=case", "--crate-type=lib"])
        .args(["--edition=2024", "--emit=metadata"])
        .args(["-Adead_code", "--verbose"])
        .args(["--out-dir", env!("CARGO_TARGET_TMPDIR")])
        .args(LIBRARIES)
        // The paths of the libraries are relative to the root.
        .current_dir(ROOT)
        .stdin(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("a compiler");
    let mut stdin = compiler.stdin.take().expect("a pipe");
    stdin.write_all(program.as_bytes()).expect("a program");
    drop(stdin);
    let output = compiler.wait_with_output().expect("a compiler");
    assert!(!output.status.success(), "{} is accepted", case.name);
    let errors = String::from_utf8(output.stderr).expect("a text");
    format!("{program}{ERRORS}{}", portable(&errors))
}

/// Removes everything that differs between machines and compilers: absolute paths, line numbers in other files, margins
/// and the summary.
fn portable(errors: &str) -> String {
    let root = Path::new(ROOT).canonicalize().expect("a folder");
    let errors = errors.replace(&format!("{}/", root.display()), "");
    let is_summary = |error: &str| {
        let starts = ["error: aborting", "For more", "Some errors have"];
        starts.iter().any(|start| error.starts_with(start))
    };
    let mut shown = BTreeSet::new();
    let errors = errors.trim_end().split("\n\n");
    // Cargo also prints identical errors only once.
    let errors = errors.filter(|error| !is_summary(error) && shown.insert(*error));
    let errors: Vec<_> = errors.map(without_margin).collect();
    format!("{}\n", errors.join("\n\n"))
}

/// Removes line numbers, whose width depends on all files that are quoted, and the places in files other than the
/// program.
fn without_margin(error: &str) -> String {
    const MARKS: [&str; 7] = ["| ", "--> ", "::: ", "= ", "+ ", "- ", "~ "];
    let before = |line: &str| Some(line.split_once("--> ")?.0.len());
    let width = error.lines().find_map(before).unwrap_or(1);
    let margin = " ".repeat(width - 1);
    let mut is_aligned = false;
    let lines = error.lines().map(|line| {
        let content = line.trim_start_matches(|char: char| char == ' ' || char.is_ascii_digit());
        let is_marked = |mark| format!("{content} ").starts_with(mark);
        if MARKS.iter().any(is_marked) {
            is_aligned = true;
            let is_place = content.starts_with("--> ") || content.starts_with("::: ");
            let file = content.split_once(".rs:").filter(|_| is_place);
            return file.map_or(format!(" {content}"), |(file, _)| format!(" {file}.rs"));
        }
        is_aligned &= line.starts_with(' ');
        let aligned = line.strip_prefix(&margin).filter(|_| is_aligned);
        aligned.unwrap_or(line).to_owned()
    });
    lines.collect::<Vec<_>>().join("\n")
}

#[test]
fn programs_are_rejected_with_the_reason() {
    check(&folder(), compiled);
}

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("fail")
}

/// rustc quotes the standard library only if the component `rust-src` is installed.
#[test]
fn no_expected_error_quotes_the_standard_library() {
    let cases: Vec<_> = tables(&folder())
        .into_iter()
        .flat_map(|(_, cases)| cases)
        .collect();
    for case in &cases {
        assert!(
            !case.text.contains("/rustlib/src/rust/"),
            "{} shows lines of the standard library: have the program use types of its own",
            case.name
        );
    }
    assert!(cases.len() > 100, "{} found", cases.len());
}

#[test]
fn the_program_together_lists_every_file() {
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
