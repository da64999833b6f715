//! What tools make of expansions: clippy, and coverage reports.

use std::fs;
use std::path::Path;

use crate::features::cargo;

#[test]
fn clippy_says_which_provided_method_a_copy_lacks() {
    let output = cargo("clippy", "copy_drifted", &[]);
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert!(!output.status.success());
    let lacking =
        "error: missing trait method provided by default: `rename`\n  --> src/main.rs:14:7\n";
    assert!(stderr.contains(lacking), "{stderr}");
    // One, and the count of them at the end.
    assert_eq!(stderr.matches("error: ").count(), 2, "{stderr}");
}

/// The compiler's own notes on what it counts, since a report takes tools that need not be there.
#[test]
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
            let (_, place) = line.split_once("src/main.rs:")?;
            place.split(':').next()?.parse::<usize>().ok()
        })
        .collect();
    let root = env!("CARGO_MANIFEST_DIR");
    let program = fs::read_to_string(format!("{root}/../features/coverage/src/main.rs")).unwrap();
    let mut expected = 0;
    for (index, line) in program.lines().enumerate() {
        if line.ends_with("// counted") {
            expected += 1;
            assert!(counted.contains(&(index + 1)), "not counted: {line}");
        }
    }
    assert_eq!(expected, 15);
}
