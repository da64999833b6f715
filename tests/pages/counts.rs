//! The numbers of tests on the page for reviewers.

use std::fs;
use std::path::Path;

use crate::{pages, read, root};

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
    fn in_folder(path: &Path, ending: &str, counts: &dyn Fn(&str) -> bool) -> usize {
        if path.is_dir() {
            let entries = fs::read_dir(path).expect("a folder");
            let paths = entries.map(|entry| entry.expect("a file").path());
            return paths.map(|path| in_folder(&path, ending, counts)).sum();
        }
        if path.extension().is_none_or(|extension| extension != ending) {
            return 0;
        }
        let text = fs::read_to_string(path).expect("a text");
        text.lines()
            .filter(|line| counts(line.trim_start()))
            .count()
    }
    in_folder(&root().join(folder), ending, counts)
}
