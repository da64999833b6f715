//! Copies of published crates that depend on the runtime of this repository.

use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The common dependencies of many crates, with all requested features, so that they are compiled once.
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

/// Creates a folder with a crate that only has dependencies.
fn empty_crate(folder: &Path, manifest: &str) {
    fs::create_dir_all(folder.join("src")).expect("a folder");
    fs::write(folder.join("src/lib.rs"), "").expect("a file");
    fs::write(folder.join("Cargo.toml"), manifest).expect("a file");
}

/// A copy of a published crate that depends on the runtime of this repository.
pub(crate) fn patched(work: &Path, name: &str, version: &str) -> PathBuf {
    let download = work.join(format!("download-{name}"));
    let manifest = format!(
        "[package]\nname = \"download\"\nedition = \"2024\"\n[workspace]\n[dependencies]\n{name} = {{ version = \"={version}\", default-features = false }}\n"
    );
    empty_crate(&download, &manifest);
    empty_crate(&work.join("common"), COMMON);
    let mut cargo = Command::new("cargo");
    cargo.args(["metadata", "--format-version=1"]);
    let output = cargo.current_dir(&download).output().expect("cargo runs");
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{errors}");
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
    allow_deep_futures(&folder.join("src/lib.rs"));
    folder
}

/// An attempt is a future within that of its function. If all functions retry, futures are twice as deep as before.
fn allow_deep_futures(root: &Path) {
    let Ok(text) = fs::read_to_string(root) else {
        return;
    };
    if !text.contains("recursion_limit") {
        let text = format!("#![recursion_limit = \"512\"] {text}");
        fs::write(root, text).expect("a file");
    }
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
