//! The attribute on every fallible function of published crates: what compiles, and what a loop by hand would compile.
//!
//! `cargo run --release --manifest-path tests/corpus/Cargo.toml [CRATE…]`

mod by_hand;
mod compiler;
mod functions;

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::by_hand::Way;
use crate::functions::{Edit, Function};

/// No attempt is ever repeated, so that unit tests see what they saw before.
const ATTRIBUTE: &str = r#"#[::retry_runtime::retry(max = 2, backoff = "none", on = |_| false)] "#;

/// By which the macro itself says where it was called: what a feature left out, it never sees.
const PROBE: &str = "#[::retry_runtime::retry(corpus_probe)] ";

fn main() {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    let work = here.join("target/corpus");
    let wanted: Vec<_> = std::env::args().skip(1).collect();
    let rows = fs::read_to_string(here.join("crates.txt")).expect("the list");
    let rows = rows.lines().filter(|row| !row.starts_with('#'));
    let mut table = String::from(
        "| crate | functions | compile | refused in words | no loop by hand either | ours alone | new warnings | unit tests |\n|---|--:|--:|--:|--:|--:|--:|--:|\n",
    );
    let mut sums = [0; 6];
    for row in rows {
        let mut words = row.split(' ');
        let name = words.next().expect("a name");
        if !wanted.is_empty() && !wanted.iter().any(|wanted| wanted == name) {
            continue;
        }
        let version = words.next().expect("a version");
        let mut features: Vec<_> = words.collect();
        let has_tests = features.first() == Some(&"test");
        features.retain(|feature| *feature != "test");
        let folder = patched(&work, name, version);
        let krate = Crate::new(folder, features);
        let figures = krate.figures(name, has_tests);
        for (sum, count) in sums.iter_mut().zip(figures.counts) {
            *sum += count;
        }
        table.push_str(&line(name, version, figures.counts, &figures.tests));
        fs::write(work.join(format!("{name}.txt")), figures.details).expect("a file");
        println!("{}", table.lines().last().expect("a line"));
    }
    table.push_str(&line("all", "", sums, ""));
    fs::write(work.join("table.md"), &table).expect("a file");
    println!("\n{table}");
    assert_eq!(
        sums[4],
        0,
        "functions that only we don't compile: see {}",
        work.display()
    );
}

fn line(name: &str, version: &str, counts: [usize; 6], tests: &str) -> String {
    let counts: Vec<_> = counts.iter().map(usize::to_string).collect();
    format!("| {name} {version} | {} | {tests} |\n", counts.join(" | "))
}

/// What many of them depend on, with all features that they ask for, so that it is compiled once.
const COMMON: &str = r#"[package]
name = "common"
edition = "2024"
[workspace]
[dependencies]
bytes = { version = "1", features = ["serde"] }
futures = "0.3"
log = { version = "0.4", features = ["std"] }
serde = { version = "1", features = ["derive", "rc"] }
serde_json = { version = "1", features = ["preserve_order", "raw_value"] }
syn = { version = "2", features = ["extra-traits", "fold", "full", "visit", "visit-mut"] }
tokio = { version = "1", features = ["full"] }
tokio-util = { version = "0.7", features = ["full"] }
tracing = { version = "0.1", features = ["log"] }
"#;

/// A folder with a crate that has nothing but dependencies.
fn empty_crate(folder: &Path, manifest: &str) {
    fs::create_dir_all(folder.join("src")).expect("a folder");
    fs::write(folder.join("src/lib.rs"), "").expect("a file");
    fs::write(folder.join("Cargo.toml"), manifest).expect("a file");
}

/// A copy of a published crate that depends on the runtime of this repository.
fn patched(work: &Path, name: &str, version: &str) -> PathBuf {
    let download = work.join(format!("download-{name}"));
    let manifest = format!(
        "[package]\nname = \"download\"\nedition = \"2024\"\n[workspace]\n[dependencies]\n{name} = {{ version = \"={version}\", default-features = false }}\n"
    );
    empty_crate(&download, &manifest);
    empty_crate(&work.join("common"), COMMON);
    let mut cargo = Command::new("cargo");
    let output = cargo
        .args(["metadata", "--format-version=1"])
        .current_dir(&download)
        .output();
    let output = output.expect("cargo runs");
    assert!(
        output.status.success(),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
    let metadata: serde_json::Value = serde_json::from_slice(&output.stdout).expect("JSON");
    let mut packages = metadata["packages"].as_array().expect("packages").iter();
    let found = packages
        .find(|package| package["name"] == name)
        .expect("the crate");
    let source = Path::new(found["manifest_path"].as_str().expect("a path")).with_file_name("");
    let folder = work.join(name);
    let _ = fs::remove_dir_all(&folder);
    copy(&source, &folder);
    let manifest = folder.join("Cargo.toml");
    let mut text = fs::read_to_string(&manifest).expect("a manifest");
    let runtime = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../retry-runtime");
    write!(
        text,
        "\n[dependencies.retry-runtime]\npath = {runtime:?}\n[dependencies.common]\npath = \"../common\"\n\n[workspace]\n"
    )
    .expect("a text");
    fs::write(&manifest, text).expect("a file");
    let _ = fs::remove_file(folder.join("Cargo.lock"));
    folder
}

fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).expect("a folder");
    for entry in fs::read_dir(from).expect("a folder") {
        let path = entry.expect("an entry").path();
        let target = to.join(path.file_name().expect("a name"));
        if path.is_dir() {
            copy(&path, &target);
        } else {
            fs::copy(&path, &target).expect("a copy");
        }
    }
}

struct Crate<'a> {
    folder: PathBuf,
    features: Vec<&'a str>,
    functions: Vec<Function>,
    texts: BTreeMap<PathBuf, String>,
}

/// Of functions, by their index: why each doesn't compile.
type Failures = BTreeMap<usize, String>;

struct Figures {
    counts: [usize; 6],
    tests: String,
    details: String,
}

impl<'a> Crate<'a> {
    fn new(folder: PathBuf, features: Vec<&'a str>) -> Self {
        let functions = functions::of(&folder.join("src"));
        let files: BTreeSet<_> = functions
            .iter()
            .map(|function| function.file.clone())
            .collect();
        let read = |file: PathBuf| {
            let text = fs::read_to_string(&file).expect("a file");
            (file, text)
        };
        let texts = files.into_iter().map(read).collect();
        Self {
            folder,
            features,
            functions,
            texts,
        }
    }

    fn figures(&self, name: &str, has_tests: bool) -> Figures {
        let unchanged = compiler::check(&self.folder, &self.features);
        let error = unchanged.iter().find(|message| message.is_error);
        assert!(
            error.is_none(),
            "{name} does not compile: {}",
            error.expect("an error").text
        );
        let tests = has_tests.then(|| compiler::unit_tests(&self.folder, &self.features));
        let all = (0..self.functions.len()).collect();
        let reached: BTreeSet<_> = self
            .failures(&all, |function| Some(before(function, PROBE)), true)
            .0
            .into_keys()
            .collect();
        let (failed, warnings) = self.failures(
            &reached,
            |function| Some(before(function, ATTRIBUTE)),
            false,
        );
        let after = has_tests.then(|| compiler::unit_tests(&self.folder, &self.features));
        let (said, failed): (Failures, Failures) = failed
            .into_iter()
            .partition(|(_, why)| is_in_our_words(why));
        // Also those that are refused, to see what it is that words are about.
        let mut by_hand: BTreeSet<_> = said.keys().chain(failed.keys()).copied().collect();
        let mut why = Failures::new();
        for way in [Way::Labelled, Way::Closed] {
            let edits = |function: &Function| by_hand::around(function, way);
            let possible: BTreeSet<_> = by_hand
                .iter()
                .copied()
                .filter(|index| edits(&self.functions[*index]).is_some())
                .collect();
            let (failed, _) = self.failures(&possible, edits, false);
            by_hand.retain(|index| !possible.contains(index) || failed.contains_key(index));
            why.extend(failed);
        }
        let details = self.details(&said, &failed, &by_hand, &why);
        let alone = failed
            .keys()
            .filter(|index| !by_hand.contains(index))
            .count();
        let before = unchanged.len();
        Figures {
            counts: [
                reached.len(),
                reached.len() - said.len() - failed.len(),
                said.len(),
                failed.len() - alone,
                alone,
                warnings.saturating_sub(before),
            ],
            tests: shown(tests.flatten(), after.flatten()),
            details,
        }
    }

    /// Changes these functions; as long as there are errors, all but those that have one. Why each of those didn't compile,
    /// and how many warnings are left.
    fn failures(
        &self,
        changed: &BTreeSet<usize>,
        edits: impl Fn(&Function) -> Option<Vec<Edit>>,
        is_once: bool,
    ) -> (Failures, usize) {
        let mut changed = changed.clone();
        let mut failures = Failures::new();
        loop {
            self.write(&changed, &edits);
            let messages = compiler::check(&self.folder, &self.features);
            let (errors, warnings): (Vec<_>, Vec<_>) =
                messages.iter().partition(|message| message.is_error);
            if errors.is_empty() {
                return (failures, warnings.len());
            }
            let before = changed.len();
            for error in &errors {
                let mut places = error.places.iter();
                let found = places.find_map(|place| self.function_at(place, &changed));
                if let Some(index) = found {
                    changed.remove(&index);
                    let code = error.code.as_deref().unwrap_or("-");
                    failures.insert(index, format!("{code} {}", error.text));
                }
            }
            if is_once {
                return (failures, 0);
            }
            assert!(
                changed.len() < before,
                "{}: no function of ours: {} at {:?}",
                self.folder.display(),
                errors[0].text,
                errors[0].places
            );
        }
    }

    fn function_at(
        &self,
        (file, line): &(PathBuf, usize),
        among: &BTreeSet<usize>,
    ) -> Option<usize> {
        among.iter().copied().find(|index| {
            let function = &self.functions[*index];
            function.file == *file && function.lines.contains(line)
        })
    }

    fn write(&self, changed: &BTreeSet<usize>, edits: impl Fn(&Function) -> Option<Vec<Edit>>) {
        for (file, text) in &self.texts {
            let own = changed.iter().map(|index| &self.functions[*index]);
            let own = own.filter(|function| function.file == *file);
            let new = functions::edited(text, own.filter_map(&edits).flatten().collect());
            if fs::read_to_string(file).expect("a file") != new {
                fs::write(file, new).expect("a file");
            }
        }
    }

    fn details(
        &self,
        said: &Failures,
        failed: &Failures,
        by_hand: &BTreeSet<usize>,
        why: &Failures,
    ) -> String {
        let mut text = String::new();
        for (index, message) in said.iter().chain(failed) {
            let function = &self.functions[*index];
            let file = function
                .file
                .strip_prefix(&self.folder)
                .expect("within")
                .display();
            let class = match (said.contains_key(index), by_hand.contains(index)) {
                (true, true) => "in words",
                (true, false) => "in words, compiles by hand",
                (false, true) => "no loop",
                (false, false) => "OURS ALONE",
            };
            let by_hand = why.get(index).map_or("", |why| why);
            writeln!(
                text,
                "{class}: {file}:{} {} -> {}\n    {message}\n    by hand: {by_hand}",
                function.lines.start, function.name, function.returned
            )
            .expect("a text");
        }
        text
    }
}

fn before(function: &Function, attribute: &str) -> Vec<Edit> {
    vec![(function.start..function.start, attribute.to_owned())]
}

/// Messages of the macro have no code, as have some of rustc's.
fn is_in_our_words(why: &str) -> bool {
    const OF_RUSTC: [&str; 7] = [
        "captured variable cannot escape",
        "lifetime may not live long enough",
        "future cannot be sent",
        "implementation of",
        "higher-ranked",
        "`async` return type",
        "async closure does not",
    ];
    why.strip_prefix("- ")
        .is_some_and(|text| !OF_RUSTC.iter().any(|words| text.starts_with(words)))
}

fn shown(before: Option<[u32; 2]>, after: Option<[u32; 2]>) -> String {
    match (before, after) {
        (Some(before), Some(after)) if before == after => format!("{} as before", before[0]),
        (Some(before), after) => format!("{before:?}, then {after:?}"),
        (None, _) => String::from("–"),
    }
}
