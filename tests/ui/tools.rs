//! Expansions in tools: clippy, coverage reports and backtraces.

use std::fs;
use std::path::Path;
use std::process::Command;

use crate::features::cargo;

#[test]
#[ignore = "compiles the runtime with other features; run with `-- --ignored`"]
fn clippy_reports_provided_methods_missing_from_a_copy() {
    let output = cargo("clippy", "copy_drifted", &[]);
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert!(!output.status.success());
    let lacking = "error: missing trait method provided by default: `rename`\n  --> copy_drifted/src/main.rs:14:7\n";
    assert!(stderr.contains(lacking), "{stderr}");
    // One, and the count of them at the end.
    assert_eq!(stderr.matches("error: ").count(), 2, "{stderr}");
}

/// Checks the compiler's coverage mapping, because a report needs tools that may be missing.
#[test]
#[ignore = "compiles the runtime with other features; run with `-- --ignored`"]
fn lines_of_bodies_are_counted_for_coverage_reports() {
    let notes = Path::new(env!("CARGO_TARGET_TMPDIR")).join("coverage.mir");
    let emit = format!("--emit=mir={}", notes.display());
    let output = cargo("rustc", "coverage", &["--", "-Cinstrument-coverage", &emit]);
    assert!(
        output.status.success(),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
    let notes = fs::read_to_string(notes).unwrap();
    let counted = notes.lines().filter(|line| line.contains("coverage "));
    let counted: Vec<_> = counted
        .filter_map(|line| {
            let (_, place) = line.split_once("coverage/src/main.rs:")?;
            place.split(':').next()?.parse::<usize>().ok()
        })
        .collect();
    let expected = lines_marked("coverage", "counted");
    for line in &expected {
        assert!(counted.contains(line), "not counted: line {line}");
    }
    assert_eq!(expected.len(), 15);
}

/// The numbers of the lines that end with that comment.
fn lines_marked(program: &str, mark: &str) -> Vec<usize> {
    let root = env!("CARGO_MANIFEST_DIR");
    let text = fs::read_to_string(format!("{root}/../features/{program}/src/main.rs")).unwrap();
    let lines = text.lines().zip(1..);
    let marked = lines.filter(|(line, _)| line.ends_with(&format!("// {mark}")));
    marked.map(|(_, number)| number).collect()
}

#[test]
#[ignore = "compiles the runtime with other features; run with `-- --ignored`"]
fn clippy_checks_bodies_but_not_the_generated_code() {
    let output = cargo("clippy", "linted", &[]);
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{stderr}");
    let places = stderr.lines().filter_map(|line| {
        let (_, place) = line.split_once("--> linted/src/main.rs:")?;
        place.split(':').next()?.parse().ok()
    });
    let mut places: Vec<usize> = places.collect();
    places.sort_unstable();
    assert_eq!(places, lines_marked("linted", "reported"), "{stderr}");
}

/// Checks panics and the frames of a backtrace, which debuggers use.
#[test]
#[ignore = "compiles the runtime with other features; run with `-- --ignored`"]
fn a_body_keeps_its_source_location() {
    let lines = ["--", "-Cdebuginfo=line-tables-only", "-Cstrip=none"];
    let output = cargo("rustc", "places", &lines);
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{stderr}");
    let program = Path::new(env!("CARGO_TARGET_TMPDIR")).join("features/debug/places");
    for body in ["asynchronous", "blocking", "future", "expression", "method"] {
        let output = Command::new(&program)
            .arg(body)
            .env("RUST_BACKTRACE", "1")
            .output()
            .unwrap();
        let stderr = String::from_utf8_lossy(&output.stderr);
        let line = lines_marked("places", body)[0];
        assert!(
            stderr.contains(&format!("panicked at places/src/main.rs:{line}:")),
            "{stderr}"
        );
        assert!(
            stderr.contains(&format!("/places/src/main.rs:{line}:")),
            "{stderr}"
        );
    }
}
