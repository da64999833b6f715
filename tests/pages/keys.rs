//! Every key of the attribute is in the guide, and in the documentation that editors show.

use crate::{pages, read};

/// The names in the table of all keys, without those of a policy's `breaker(…)` and `limiter(…)`.
fn keys() -> Vec<String> {
    let table = read("retry-vocabulary/src/key.rs");
    let rows = table
        .lines()
        .filter_map(|line| line.strip_prefix("    ")?.split_once(": \""));
    let names = rows.filter(|(variant, rest)| {
        variant.chars().all(char::is_alphanumeric) && !rest.contains("\", Protection(")
    });
    names
        .filter_map(|(_, rest)| Some(rest.split_once("\", ")?.0.to_owned()))
        .collect()
}

#[test]
fn every_key_has_a_section_and_a_sentence() {
    let groups = pages()
        .into_iter()
        .filter(|page| page.starts_with("docs/keys_"));
    let guide: String = groups.map(|page| read(&page)).collect();
    let headings: Vec<_> = guide
        .lines()
        .filter_map(|line| line.strip_prefix("## "))
        .collect();
    let page = read("docs/keys.md");
    let (index, _) = page.split_once("\n## ").expect("a first section");
    let editors = read("retry-runtime/src/macro_support/keys.rs");
    let keys = keys();
    assert!(keys.len() > 30, "{keys:?}");
    for key in keys {
        let named = [format!("`{key}`"), format!("`{key}(…)`")];
        let has_section = headings.iter().any(|heading| {
            heading
                .split(", ")
                .any(|part| named.iter().any(|name| name == part))
        });
        assert!(has_section, "no page has a section about `{key}`");
        assert!(
            index.contains(&format!("`{key}`")),
            "docs/keys.md doesn't list `{key}`"
        );
        let example = format!("    /// `{key}");
        assert!(
            editors.lines().any(|line| line.starts_with(&example)),
            "editors show nothing of `{key}`"
        );
    }
}
