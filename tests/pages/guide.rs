//! The guide's order: the table of contents, the links to the previous and next page, and the pages in rustdoc.

use std::collections::BTreeSet;

use crate::{pages, read};

/// The pages in the order of the table of contents.
fn contents() -> Vec<String> {
    let text = read("docs/README.md");
    let numbered = text
        .lines()
        .filter(|line| line.starts_with(|first: char| first.is_ascii_digit()));
    let labels = numbered.map(|line| labels(line).into_iter().next().expect("a link"));
    labels.collect()
}

/// Returns the labels of links such as `[text][label]`.
fn labels(line: &str) -> Vec<String> {
    let parts = line.split("][").skip(1);
    let labels = parts.filter_map(|part| part.split_once(']'));
    labels.map(|(label, _)| label.to_owned()).collect()
}

#[test]
fn every_page_is_in_the_contents_and_in_rustdoc() {
    let pages = pages();
    let names = pages
        .iter()
        .filter_map(|page| page.strip_prefix("docs/")?.strip_suffix(".md"));
    let written: BTreeSet<_> = names.filter(|name| *name != "README").collect();
    let contents = contents();
    assert_eq!(
        contents.iter().map(String::as_str).collect::<BTreeSet<_>>(),
        written
    );
    let rustdoc = read("retry-runtime/src/guide.rs");
    let (_, rustdoc) = rustdoc.split_once("\npages! {").expect("the list");
    let shown: BTreeSet<_> = rustdoc.split([' ', '\n', ';']).collect();
    for name in written {
        assert!(shown.contains(name), "{name}");
    }
}

#[test]
fn pages_lead_back_and_on() {
    let contents = contents();
    for (index, name) in contents.iter().enumerate() {
        let text = read(&format!("docs/{name}.md"));
        let (_, end) = text.rsplit_once("\n---\n").expect("a line above the links");
        let mut expected = vec![String::from("contents")];
        if let Some(before) = index.checked_sub(1) {
            expected.insert(0, contents[before].clone());
        }
        expected.extend(contents.get(index + 1).cloned());
        assert_eq!(
            labels(end.trim().split("\n\n").next().expect("links")),
            expected,
            "{name}"
        );
    }
}

/// The target of links to items in files. rustdoc checks that the same link in its pages leads to an item.
const DOCS: &str = "https://docs.rs/retry-runtime/latest/retry_runtime/";

/// Crates that rustdoc can't resolve in the pages. The lists of their items are checked instead.
const ABOVE: [&str; 3] = ["retry-observers", "retry-protections", "retry-work"];

#[test]
fn links_lead_to_crates_above_the_runtime() {
    for krate in ABOVE {
        let items = read(&format!(".ci/api/{krate}"));
        let library = krate.replace('-', "_");
        let docs = format!("https://docs.rs/{krate}/latest/{library}/");
        let mut found = 0;
        for page in pages() {
            let text = read(&page);
            let defined = text.lines().filter_map(|line| line.split_once("`]: "));
            for (label, target) in defined {
                let Some(target) = target.strip_prefix(&docs) else {
                    continue;
                };
                let path = label.trim_start_matches("[`");
                let item = format!("\n{library}::{path}: pub ");
                assert!(items.contains(&item), "{page}: {path}");
                let (last, method) = match path.split_once("::") {
                    Some((owner, method)) => (owner, format!("#method.{method}")),
                    None => (path, String::new()),
                };
                let kinds = ["struct", "trait", "fn"];
                let pages = kinds.map(|kind| format!("{kind}.{last}.html{method}"));
                assert!(pages.iter().any(|page| page == target), "{page}: {target}");
                found += 1;
            }
        }
        assert!(found > 0, "no links to {krate}");
    }
}

#[test]
fn links_lead_to_the_same_page_in_files_and_in_rustdoc() {
    let definitions = |text: &str| -> BTreeSet<_> {
        let defined = text.lines().filter(|line| line.starts_with('['));
        let pairs = defined.filter_map(|line| line.split_once("]: "));
        pairs
            .map(|(label, target)| (label[1..].to_owned(), target.to_owned()))
            .collect()
    };
    let in_rustdoc = definitions(&read("retry-runtime/src/guide/links.md"));
    for page in pages() {
        let text = read(&page);
        assert!(
            !text.contains("](crate::"),
            "{page}: a link that is dead in files"
        );
        for (label, file) in definitions(&text) {
            if let Some(item) = file.strip_prefix(DOCS) {
                let path = label.trim_matches('`');
                let name = path.rsplit("::").next().expect("never empty");
                let named = item.trim_end_matches(".html").trim_end_matches("/index");
                let is_named = named.ends_with(&format!(".{name}"))
                    || named.ends_with(&format!("/{name}"))
                    || named == name;
                // The label of an item in a public module may omit the module.
                let module = named.rsplit_once('/').map_or("", |(module, _)| module);
                let module = format!("{}::", module.replace('/', "::"));
                let is_full = module == "::" || path.starts_with(&module);
                let module = if is_full { "" } else { &module };
                let target = (label.clone(), format!("crate::{module}{path}"));
                assert!(
                    is_named && in_rustdoc.contains(&target),
                    "{page}: {target:?}"
                );
                continue;
            }
            let Some((name, place)) = file.trim_start_matches("docs/").split_once(".md") else {
                continue;
            };
            let module = match name {
                "README" => String::from("crate::guide"),
                name => format!("crate::guide::{name}"),
            };
            let target = (label, format!("{module}{place}"));
            assert!(in_rustdoc.contains(&target), "{page}: {target:?}");
        }
    }
}

#[test]
fn links_lead_to_headings() {
    for page in pages() {
        let text = read(&page);
        for target in text
            .split("](#")
            .skip(1)
            .filter_map(|rest| rest.split_once(')'))
        {
            assert!(headings(&text).contains(target.0), "{page}: #{}", target.0);
        }
        for line in text.lines().filter(|line| line.starts_with('[')) {
            if let Some((file, place)) = line.split_once(".md#") {
                let (_, file) = file.split_once("]: ").expect("a definition");
                let file = file.trim_start_matches("docs/");
                assert!(
                    headings(&read(&format!("docs/{file}.md"))).contains(place),
                    "{page}: {line}"
                );
            }
        }
    }
}

/// The log links to these headings.
#[test]
fn every_reason_has_a_heading() {
    let source = read("retry-runtime/src/observe/reason.rs");
    let (_, names) = source.split_once("Reason:\n").expect("the names");
    let (names, _) = names.split_once("\n}\n").expect("their end");
    let names: Vec<_> = names.split('"').skip(1).step_by(2).collect();
    assert!(names.contains(&"hint too long"));
    let headings = headings(&read("docs/troubleshooting.md"));
    for name in names {
        assert!(headings.contains(&name.replace(' ', "-")), "{name}");
    }
}

/// The headings, as a forge and rustdoc name them in links.
fn headings(text: &str) -> BTreeSet<String> {
    let headings = text.lines().filter(|line| line.starts_with('#'));
    let id = |heading: &str| {
        let words = heading.trim_start_matches('#').trim().to_lowercase();
        let known = words
            .chars()
            .filter(|c| c.is_alphanumeric() || " -_".contains(*c));
        known.collect::<String>().replace(' ', "-")
    };
    headings.map(id).collect()
}
