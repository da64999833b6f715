//! The README's example, pasted into a fresh crate as a reader would.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::{block, read, root};

#[test]
fn the_example_runs_in_a_fresh_crate_and_logs_what_the_readme_shows() {
    let readme = read("README.md");
    let program = paste(&readme);
    let run = Command::new(env!("CARGO"))
        .args(["run", "--quiet", "--offline"])
        .current_dir(&program)
        .env("CARGO_TARGET_DIR", target())
        .output()
        .expect("cargo runs");
    let [printed, complaints] =
        [run.stdout, run.stderr].map(|text| String::from_utf8(text).expect("UTF-8"));
    assert!(run.status.success(), "{complaints}");
    // Warnings would be the first that a reader sees.
    assert_eq!(complaints, "");
    assert_eq!(shape(&printed), shape(&unfolded(block(&readme, "text"))));
}

/// Makes the crate, and returns its folder.
fn paste(readme: &str) -> PathBuf {
    let program = Path::new(env!("CARGO_TARGET_TMPDIR")).join("hello");
    let runtime = root().join("retry-runtime");
    let published = r#"retry-runtime = "0.1""#;
    let dependencies = block(readme, "toml");
    assert!(dependencies.contains(published));
    let runtime = runtime.display();
    let here = format!("retry-runtime = {{ version = \"0.1\", path = '{runtime}' }}");
    let manifest = format!(
        "[package]\nname = \"hello\"\nedition = \"2024\"\n\n[workspace]\n\n{}",
        dependencies.replace(published, &here),
    );
    fs::create_dir_all(program.join("src")).expect("a folder");
    fs::write(program.join("Cargo.toml"), manifest).expect("a manifest");
    fs::write(program.join("src/main.rs"), block(readme, "rust")).expect("a program");
    // What this workspace has downloaded.
    fs::copy(root().join("Cargo.lock"), program.join("Cargo.lock")).expect("a lock file");
    program
}

/// The target folder of this test: much is compiled there already.
fn target() -> &'static Path {
    Path::new(env!("CARGO_TARGET_TMPDIR"))
        .parent()
        .expect("a folder around it")
}

/// Records, a line each: in the README their second half stands on an indented line.
fn unfolded(shown: &str) -> String {
    shown.replace("\n     ", " ")
}

/// The lines, without what chance decides.
fn shape(printed: &str) -> Vec<String> {
    let fields = |line: &str| {
        let mut before = "";
        let fields = line.split_whitespace().map(|field| {
            let shown = match field.split_once('=') {
                Some(("delay", _)) => "delay",
                _ if before == "in" => "delay",
                _ => field,
            };
            before = field;
            shown
        });
        fields.collect::<Vec<_>>().join(" ")
    };
    printed.lines().map(fields).collect()
}
