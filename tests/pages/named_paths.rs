//! The files and folders that ARCHITECTURE, CONTRIBUTING and SECURITY name exist.

use std::path::Path;

use crate::{lines, read, root};

#[test]
fn named_paths_exist() {
    let mut missing = Vec::new();
    let mut found = 0;
    for page in ["ARCHITECTURE.md", "CONTRIBUTING.md", "SECURITY.md"] {
        let text = read(page);
        for path in in_prose(&text).chain(in_tree(&text)) {
            found += 1;
            if !root().join(&path).exists() {
                missing.push(format!("{page}: {path}"));
            }
        }
    }
    assert!(missing.is_empty(), "\n{}", missing.join("\n"));
    assert!(found > 50, "{found} paths");
}

/// Returns texts in backticks that contain a slash or a file extension. Skips build output in `target`, which isn't in
/// a checkout.
fn in_prose(text: &str) -> impl Iterator<Item = String> {
    let prose = lines(text).filter(|(is_code, _)| !is_code);
    let quoted = prose.flat_map(|(_, line)| line.split('`').skip(1).step_by(2));
    let paths = quoted.filter(|quoted| {
        let is_path = |c: char| c.is_alphanumeric() || "/._-".contains(c);
        let ends = [".rs", ".md", ".toml", ".py"];
        quoted.chars().all(is_path)
            && !quoted.starts_with("target/")
            && (quoted.contains('/') || ends.iter().any(|end| quoted.ends_with(end)))
    });
    paths.map(str::to_owned)
}

/// The first words of the lines of a tree, each in the folder above it that is indented less. A folder ends in a slash.
fn in_tree(text: &str) -> impl Iterator<Item = String> {
    let mut above: Vec<(usize, String)> = Vec::new();
    let mut paths = Vec::new();
    for (is_code, line) in lines(text) {
        let entry = line.trim_start();
        let name = entry.split(' ').next().unwrap_or_default();
        if !is_code {
            above.clear();
        }
        let is_source = Path::new(name)
            .extension()
            .is_some_and(|extension| extension == "rs");
        if !is_code || !(name.ends_with('/') || is_source) {
            continue;
        }
        let indent = line.len() - entry.len();
        above.retain(|(outer, _)| *outer < indent);
        let folder = above
            .last()
            .map(|(_, folder)| folder.as_str())
            .unwrap_or_default();
        let path = format!("{folder}{name}");
        if name.ends_with('/') {
            above.push((indent, path.clone()));
        }
        paths.push(path);
    }
    paths.into_iter()
}
