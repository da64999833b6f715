//! The README's example, pasted into a fresh crate as a reader would.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::versions::series;
use crate::{block, pages, read, root};

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

/// `.ci/cookbook` compiles and runs the cookbook's copy, with reqwest.
#[test]
fn the_example_with_reqwest_is_that_of_the_cookbook() {
    let recipes = read("docs/cookbook.md");
    for page in ["README.md", "docs/cheat_sheet.md"] {
        let text = read(page);
        let example = block(&text, "rust,ignore");
        assert!(example.contains("error_for_retry()"), "{page}");
        assert!(recipes.contains(&format!("```rust\n{example}")), "{page}");
    }
}

#[test]
fn the_install_section_names_every_feature() {
    let readme = read("README.md");
    let (_, rest) = readme.split_once("On by default:").expect("what is on");
    let (on, rest) = rest.split_once("Off:").expect("what is off");
    let (off, _) = rest
        .split_once(", and a feature for each")
        .expect("clients");
    let quoted = |text: &str| -> BTreeSet<String> {
        let quoted = text.split('`').skip(1).step_by(2);
        quoted.map(str::to_owned).collect()
    };

    let manifest = read("retry-runtime/Cargo.toml");
    let (_, rest) = manifest.split_once("\n[features]\n").expect("features");
    let (table, _) = rest.split_once("\n[").expect("dependencies");
    let rows = table.lines().filter_map(|line| line.split_once(" = ["));
    let (default, features): (Vec<_>, Vec<_>) = rows.partition(|(name, _)| *name == "default");
    let default: BTreeSet<_> = default[0]
        .1
        .split('"')
        .skip(1)
        .step_by(2)
        .map(str::to_owned)
        .collect();
    // A client's ends with the client's version.
    let is_of_client = |name: &str| name.ends_with(|last: char| last.is_ascii_digit());
    let (of_clients, others): (Vec<_>, Vec<_>) = features
        .iter()
        .map(|(name, _)| name.to_string())
        .partition(|name| is_of_client(name));
    let others: BTreeSet<_> = others.into_iter().collect();

    assert_eq!(quoted(on), default);
    assert_eq!(quoted(off), &others - &default);
    let guide: String = pages().iter().map(|page| read(page)).collect();
    for name in of_clients {
        assert!(guide.contains(&name), "{name}");
    }
}

/// Makes the crate, and returns its folder.
fn paste(readme: &str) -> PathBuf {
    let program = Path::new(env!("CARGO_TARGET_TMPDIR")).join("hello");
    let runtime = root().join("retry-runtime");
    let published = format!("retry-runtime = \"{}\"", series());
    let dependencies = block(readme, "toml");
    assert!(dependencies.contains(&published));
    let here = format!("retry-runtime.path = '{}'", runtime.display());
    let manifest = format!(
        "[package]\nname = \"hello\"\nedition = \"2024\"\n\n[workspace]\n\n{}",
        dependencies.replace(&published, &here),
    );
    fs::create_dir_all(program.join("src")).expect("a folder");
    fs::write(program.join("Cargo.toml"), manifest).expect("a manifest");
    fs::write(program.join("src/main.rs"), block(readme, "rust")).expect("a program");
    // The dependencies that this workspace has downloaded.
    fs::copy(root().join("Cargo.lock"), program.join("Cargo.lock")).expect("a lock file");
    program
}

/// The target folder of this test: much is compiled there already.
fn target() -> &'static Path {
    Path::new(env!("CARGO_TARGET_TMPDIR"))
        .parent()
        .expect("a folder around it")
}

/// Returns records with one line each: in the README their second half is on an indented line.
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
