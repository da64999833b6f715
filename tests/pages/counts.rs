//! The numbers of tests on the page for reviewers.

use std::fs;

use crate::{files, pages, read, root};

#[test]
fn the_page_for_reviewers_has_the_number_of_tests() {
    let tests = |line: &str| line.starts_with("#[test]") || line.starts_with("#[tokio::test");
    let crates = [
        "classify",
        "macros",
        "protections",
        "runtime",
        "work",
        "clients",
        "durable",
        "vocabulary",
    ];
    let crates = crates.map(|name| format!("retry-{name}/src"));
    let in_crates = |counts: fn(&str) -> bool| -> usize {
        let found = crates.iter().map(|folder| count(folder, "rs", &counts));
        found.sum()
    };
    let on_pages = pages().iter().map(|page| read(page)).collect::<String>();
    let on_pages = on_pages.lines().filter(|line| line.starts_with("```rust"));
    let fences = in_crates(|line| line.starts_with("/// ```") || line.starts_with("//! ```"));
    let expected = [
        ("tests of behaviour", count("tests", "rs", &tests)),
        ("tests inside the crates", in_crates(tests)),
        ("examples", on_pages.count() + fences / 2),
        (
            "attributes that are refused",
            count("tests/ui/refused", "txt", &|line| line.starts_with('^')),
        ),
    ];

    let page = read("docs/reviewing.md");
    for (what, counted) in expected {
        let row = page
            .lines()
            .find(|line| line.starts_with(&format!("| {what}")));
        let shown = row.and_then(|row| row.rsplit(" | ").next());
        let shown = shown.map(|cell| cell.trim_end_matches(" |"));
        assert_eq!(shown, Some(rounded(counted).as_str()), "{what}: {counted}");
    }
}

/// Down to two digits, so that the page need not change with each test.
fn rounded(count: usize) -> String {
    let unit = 10_usize.pow(count.max(100).ilog10() - 1);
    (count / unit * unit).to_string()
}

/// The lines of all files with that ending.
fn count(folder: &str, ending: &str, counts: &dyn Fn(&str) -> bool) -> usize {
    let found = files(&root().join(folder), ending).into_iter();
    let texts = found.map(|path| fs::read_to_string(path).expect("a text"));
    let is_counted = |line: &&str| counts(line.trim_start());
    texts
        .map(|text| text.lines().filter(is_counted).count())
        .sum()
}
