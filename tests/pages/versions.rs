//! The version of the crates, wherever a manifest, a page or a link names it.

use crate::{lines, pages, read, root, sources};

const CRATES: [&str; 9] = [
    "retry-classify",
    "retry-clients",
    "retry-durable",
    "retry-macros",
    "retry-observers",
    "retry-protections",
    "retry-runtime",
    "retry-vocabulary",
    "retry-work",
];

/// Returns the version of both workspaces.
fn version() -> String {
    let [version, of_clients] = ["Cargo.toml", "retry-clients/Cargo.toml"].map(|manifest| {
        let text = read(manifest);
        let (_, package) = text
            .split_once("[workspace.package]")
            .expect("what packages share");
        quoted_after(package, "\nversion = ")
            .expect("a version")
            .to_owned()
    });
    assert_eq!(version, of_clients);
    version
}

/// Returns the part of the version that users and links use: `0.1`.
pub(crate) fn series() -> String {
    let version = version();
    let (series, _) = version.rsplit_once('.').expect("three numbers");
    series.to_owned()
}

/// Returns the text in quotes after `key`.
fn quoted_after<'a>(text: &'a str, key: &str) -> Option<&'a str> {
    let (_, rest) = text.split_once(key)?;
    Some(rest.strip_prefix('"')?.split_once('"')?.0)
}

/// Fails with all that name another version, and if there are fewer than expected: then they were not found.
fn all_name(expected: &str, named: &[(String, &str)], at_least: usize) {
    let others = named.iter().filter(|(_, version)| *version != expected);
    let others: Vec<_> = others
        .map(|(place, version)| format!("{place}: {version}, not {expected}"))
        .collect();
    assert!(others.is_empty(), "\n{}", others.join("\n"));
    assert!(named.len() >= at_least, "{named:?}");
}

#[test]
fn crates_depend_on_one_another_in_their_version() {
    let manifests = CRATES.map(|name| (name, read(&format!("{name}/Cargo.toml"))));
    let mut named = Vec::new();
    for (name, manifest) in &manifests {
        let dependencies = manifest.lines().filter(|line| line.starts_with("retry-"));
        let versions = dependencies.filter_map(|line| quoted_after(line, "version = "));
        named.extend(versions.map(|version| (name.to_string(), version)));
    }
    all_name(&format!("={}", version()), &named, 5);
}

#[test]
fn pages_depend_on_the_version() {
    let texts: Vec<_> = pages()
        .into_iter()
        .map(|page| (read(&page), page))
        .collect();
    let mut named = Vec::new();
    for (text, page) in &texts {
        let code = lines(text).filter_map(|(is_code, line)| is_code.then_some(line));
        let mut code = code.peekable();
        while let Some(line) = code.next() {
            let version = if line.starts_with("[dependencies.retry-") {
                quoted_after(code.peek().expect("its version"), "version = ")
            } else if line.starts_with("retry-") {
                quoted_after(line, "version = ").or_else(|| quoted_after(line, " = "))
            } else {
                continue;
            };
            let place = format!("{page}: {line}");
            named.extend(version.map(|version| (place, version)));
        }
    }
    all_name(&series(), &named, 13);
}

#[test]
fn links_lead_to_the_version() {
    let sources = CRATES.map(|name| sources(&root().join(name).join("src")));
    let pages = pages().into_iter();
    let pages = pages.map(|page| (root().join(&page), read(&page)));
    let texts: Vec<_> = sources.into_iter().flatten().chain(pages).collect();
    let mut named = Vec::new();
    for (path, text) in &texts {
        for link in text.split("docs.rs/retry-").skip(1) {
            // A link may name none, or the latest.
            let version = link.split(['/', ')', '>', '\n']).nth(1).unwrap_or_default();
            if version.starts_with(|first: char| first.is_ascii_digit()) {
                named.push((path.display().to_string(), version));
            }
        }
    }
    all_name(&series(), &named, 15);
}
