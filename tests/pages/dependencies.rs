//! The dependencies on a page are sufficient for its examples.

use std::collections::BTreeSet;

use crate::{block, lines, read};

/// The crates that lines of code import.
fn imported(text: &str) -> BTreeSet<&str> {
    let code = lines(text).filter_map(|(is_code, line)| is_code.then_some(line));
    let imports = code.filter_map(|line| line.trim_start().strip_prefix("use "));
    let crates = imports.filter_map(|import| import.split("::").next());
    crates
        .filter(|name| !["std", "crate"].contains(name))
        .collect()
}

#[test]
fn an_example_needs_no_other_crate_than_its_page_names() {
    for page in ["durable", "fleets", "restate"] {
        let text = read(&format!("docs/{page}.md"));
        let table = block(&text, "toml").lines();
        let named: BTreeSet<_> = table
            .filter_map(|line| Some(line.split_once(" = ")?.0.replace('-', "_")))
            .collect();
        let imported = imported(&text);
        assert!(imported.contains("retry_runtime"), "{page}");
        let missing: Vec<_> = imported
            .iter()
            .filter(|name| !named.contains(**name))
            .collect();
        assert!(missing.is_empty(), "{page}: {missing:?}");
        // Their examples await.
        assert!(named.contains("tokio"), "{page}");
    }
}
