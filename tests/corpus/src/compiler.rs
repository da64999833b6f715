//! The compiler's messages about a crate.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde_json::Value;

/// A diagnostic, and the places that it names, the most telling first.
pub(crate) struct Message {
    pub(crate) is_error: bool,
    pub(crate) code: Option<String>,
    pub(crate) text: String,
    pub(crate) places: Vec<(PathBuf, usize)>,
}

/// Returns the messages of `cargo check` for the crate in a folder.
pub(crate) fn check(folder: &Path, features: &[&str]) -> Vec<Message> {
    let mut command = cargo("check", folder, features);
    let output = command
        .args(["--lib", "--message-format=json"])
        .output()
        .expect("cargo runs");
    let text = String::from_utf8_lossy(&output.stdout);
    let values = text
        .lines()
        .filter_map(|line| serde_json::from_str::<Value>(line).ok());
    let own = values.filter(|value| {
        value["reason"] == "compiler-message"
            && Path::new(value["manifest_path"].as_str().unwrap_or_default()).starts_with(folder)
    });
    let messages: Vec<_> = own
        .map(|value| message(folder, &value["message"]))
        .collect();
    let is_explained = messages.iter().any(|message| message.is_error);
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success() || is_explained, "{errors}");
    messages
}

/// Returns the numbers of the crate's unit tests that pass and fail. `None` if they don't compile.
pub(crate) fn unit_tests(folder: &Path, features: &[&str]) -> Option<[u32; 2]> {
    let mut command = cargo("test", folder, features);
    let output = command
        .args(["--lib", "--no-fail-fast"])
        .output()
        .expect("cargo runs");
    let text = String::from_utf8_lossy(&output.stdout);
    let line = text.lines().find(|line| line.starts_with("test result:"))?;
    let words: Vec<_> = line.split_whitespace().collect();
    let count = |what: &str| {
        let mut pairs = words.windows(2);
        let found = pairs.find(|pair| pair[1].trim_end_matches(';') == what)?;
        found[0].parse().ok()
    };
    Some([count("passed")?, count("failed")?])
}

fn cargo(command: &str, folder: &Path, features: &[&str]) -> Command {
    let mut cargo = Command::new("cargo");
    cargo
        .args([command, "-j2", "--no-default-features", "--features"])
        .arg(features.join(","))
        .current_dir(folder)
        .env("CARGO_TARGET_DIR", folder.with_file_name("target"))
        .stderr(Stdio::piped());
    cargo
}

fn message(folder: &Path, message: &Value) -> Message {
    let mut places = Vec::new();
    let spans = message["spans"].as_array().expect("spans");
    let is_primary = |span: &&Value| span["is_primary"] == true;
    let (primary, others): (Vec<_>, Vec<_>) = spans.iter().partition(is_primary);
    let children = message["children"].as_array().expect("children");
    let further = children
        .iter()
        .flat_map(|child| child["spans"].as_array().expect("spans"));
    for span in primary.into_iter().chain(others).chain(further) {
        let mut span = span;
        // Out of what macros expand to.
        while !span.is_null() {
            let file = folder.join(span["file_name"].as_str().expect("a file"));
            let line = span["line_start"].as_u64().expect("a line");
            places.push((file, usize::try_from(line).expect("a line")));
            span = &span["expansion"]["span"];
        }
    }
    let text = |value: &Value| value.as_str().map(str::to_owned);
    Message {
        is_error: message["level"] == "error" && !places.is_empty(),
        code: text(&message["code"]["code"]),
        text: text(&message["message"]).expect("a text"),
        places,
    }
}
