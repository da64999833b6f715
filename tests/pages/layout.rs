//! Text that a forge shows unwrapped must not be cut off in a browser 1,300 pixels wide.

use crate::{lines, pages, read};

/// The maximum length of a line of prose, in characters.
const PROSE: usize = 100;
/// The maximum length of a line of code or of a log.
const CODE: usize = 85;
/// The maximum number of columns of a table.
const COLUMNS: usize = 4;

/// Fails with all that was found, a line each.
fn none(found: &[String]) {
    assert!(found.is_empty(), "\n{}", found.join("\n"));
}

/// The lines of all pages that break a rule, with their places.
fn breaking(rule: impl Fn(bool, &str) -> bool) -> Vec<String> {
    let mut found = Vec::new();
    for page in pages() {
        let text = read(&page);
        let numbered = lines(&text).zip(1..);
        let broken = numbered.filter(|((is_code, line), _)| rule(*is_code, line));
        found.extend(broken.map(|((_, line), number)| format!("{page}:{number}: {line}")));
    }
    found
}

#[test]
fn lines_are_short() {
    none(&breaking(|is_code, line| {
        let is_table = !is_code && line.starts_with('|');
        let most = if is_code { CODE } else { PROSE };
        let has_url = line.contains("://");
        !is_table && !has_url && line.chars().count() > most
    }));
}

#[test]
fn tables_have_few_columns() {
    none(&breaking(|is_code, line| {
        let bars = line.replace("\\|", "").matches('|').count();
        !is_code && line.starts_with('|') && bars > COLUMNS + 1
    }));
}

/// rustdoc hides such lines, but a forge shows them. In CONTRIBUTING they are comments of a shell.
#[test]
fn examples_have_no_hidden_lines() {
    let mut hidden = breaking(|is_code, line| is_code && (line == "#" || line.starts_with("# ")));
    hidden.retain(|line| !line.starts_with("CONTRIBUTING"));
    none(&hidden);
}
