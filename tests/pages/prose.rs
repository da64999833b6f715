//! Comments and pages are in plain English: phrases that read as translated are rejected.
//!
//! `cargo test -p pages prose -- --nocapture` prints the number of such phrases in each folder.

use std::fs;
use std::path::Path;

use crate::{lines, pages, read, root};

/// The folders whose comments are checked.
const CHECKED: [&str; 12] = [
    "benches",
    "examples",
    "retry-classify",
    "retry-clients",
    "retry-durable",
    "retry-macros",
    "retry-observers",
    "retry-protections",
    "retry-runtime",
    "retry-vocabulary",
    "retry-work",
    "tests",
];

/// Exceptions: the file, a part of the text, and the reason.
const ALLOWED: &str = include_str!("prose_allowed.txt");
const MOST_ALLOWED: usize = 30;

/// Words at the start of a doc comment that turn a question into a noun. Start with a noun or a verb instead.
const QUESTIONS: [&str; 3] = ["What ", "Whether ", "How "];

/// Phrases that are rejected everywhere, in lower case, each unless one of its continuations follows. The last lines
/// treat code and pages as people: instead, code contains, gets, reports or decides, and a page lists or explains.
const PHRASES: [(&str, &[&str]); 23] = [
    ("beside", &[]),
    ("anew", &[]),
    ("whoever", &[]),
    ("so many", &[]),
    ("that long", &[]),
    (", as it", &[]),
    (", as they", &[]),
    (", where it is", &[]),
    ("is no", COMPARED),
    ("are no", COMPARED),
    ("was no", COMPARED),
    ("were no", COMPARED),
    ("stands", &[" in for", " for", " still"]),
    ("stood", &[]),
    ("knows", &[]),
    ("tell", &[]),
    ("tells", &[]),
    ("told", &[]),
    ("hears", &[]),
    ("heard", &[]),
    ("say", &[]),
    ("says", &[]),
    ("said", &[]),
];
/// The continuations of a "no" that negates no noun. Before a noun, write "is not a".
const COMPARED: &[&str] = &[" longer", " later", " earlier", " more", " less"];

/// Lines of prose, joined.
struct Paragraph {
    line: usize,
    is_doc: bool,
    text: String,
}

/// A paragraph with a rejected phrase.
struct Finding {
    file: String,
    line: usize,
    phrase: &'static str,
    text: String,
}

#[test]
fn prose_has_no_translated_phrases() {
    let mut found = Vec::new();
    for folder in CHECKED {
        let before = found.len();
        search_folder(folder, &mut found);
        println!("{folder}: {}", found.len() - before);
    }
    let mut pages = pages();
    pages.push(String::from("CHANGELOG.md"));
    for page in pages {
        let before = found.len();
        search(&page, page_paragraphs(&read(&page)), &mut found);
        if found.len() > before {
            println!("{page}: {}", found.len() - before);
        }
    }

    let allowed: Vec<_> = ALLOWED
        .lines()
        .filter(|line| !line.starts_with('#'))
        .map(cells)
        .collect();
    assert!(
        allowed.len() <= MOST_ALLOWED,
        "{} exceptions",
        allowed.len()
    );
    let is_allowed = |finding: &Finding, [file, part, _]: &[&str; 3]| {
        finding.file == *file && finding.text.contains(part)
    };
    for exception in &allowed {
        assert!(
            found.iter().any(|finding| is_allowed(finding, exception)),
            "an exception that is not needed: {exception:?}"
        );
    }
    let rejected: Vec<_> = found
        .iter()
        .filter(|finding| {
            !allowed
                .iter()
                .any(|exception| is_allowed(finding, exception))
        })
        .map(
            |Finding {
                 file,
                 line,
                 phrase,
                 text,
             }| format!("{file}:{line}: \"{phrase}\": {text}"),
        )
        .collect();
    assert!(rejected.is_empty(), "\n{}", rejected.join("\n"));
}

#[test]
fn phrases_are_found() {
    let found = |text: &str| comments(text).iter().find_map(phrase);
    for (text, expected) in [
        ("/// What a call costs.", Some("What ")),
        ("//! How a call\n//! ends.", Some("How ")),
        ("// What a call costs.", None),
        ("/// Runs\n/// beside it.", Some("beside")),
        ("/// Besides, `beside_words` runs.", None),
        ("// It is no error.", Some("is no")),
        ("// There is no error, and it is no longer one.", None),
        ("/// ```\n/// // beside\n/// ```", None),
        ("let text = \"beside\";", None),
        ("// Waits, as it\n// should.", Some(", as it")),
        ("// Waits, as items do.", None),
        ("// There are no errors, and they are no\n// later.", None),
        ("/// They are no errors.", Some("are no")),
        (
            "// Ends. Where a row is empty, it\n// is skipped.",
            Some("Where "),
        ),
        ("// The place where it begins.", None),
        ("// `Stopwatch::tell` reports it.", None),
        ("// The page says so.", Some("says")),
    ] {
        assert_eq!(found(text), expected, "{text}");
    }
}

/// The three cells of an exception.
fn cells(line: &str) -> [&str; 3] {
    let cells: Vec<_> = line.splitn(3, " | ").collect();
    let cells = cells.try_into();
    cells.unwrap_or_else(|_| panic!("an exception without a reason: {line}"))
}

/// Searches the sources in a folder, and its README.
fn search_folder(folder: &str, found: &mut Vec<Finding>) {
    for entry in fs::read_dir(root().join(folder)).expect("a folder") {
        let entry = entry.expect("a file");
        let name = entry.file_name().into_string().expect("a name in UTF-8");
        let path = format!("{folder}/{name}");
        if entry.file_type().expect("a type").is_dir() {
            if name != "target" {
                search_folder(&path, found);
            }
        } else if Path::new(&name).extension().is_some_and(|end| end == "rs") {
            search(&path, comments(&read(&path)), found);
        } else if name == "README.md" {
            search(&path, page_paragraphs(&read(&path)), found);
        }
    }
}

fn search(file: &str, paragraphs: Vec<Paragraph>, found: &mut Vec<Finding>) {
    for paragraph in paragraphs {
        if let Some(phrase) = phrase(&paragraph) {
            found.push(Finding {
                file: file.to_owned(),
                line: paragraph.line,
                phrase,
                text: paragraph.text,
            });
        }
    }
}

/// The first rejected phrase in a paragraph.
fn phrase(paragraph: &Paragraph) -> Option<&'static str> {
    let is_start = |question: &&&str| paragraph.is_doc && paragraph.text.starts_with(**question);
    if let Some(question) = QUESTIONS.iter().find(is_start) {
        return Some(question);
    }
    // A condition at the start of a sentence: write "If".
    let mut sentences = paragraph.text.split(". ");
    if sentences.any(|sentence| sentence.starts_with("Where ") && sentence.contains(", ")) {
        return Some("Where ");
    }
    let text = without_code(&paragraph.text).to_lowercase();
    let is_rejected = |(phrase, continuations): &&(&str, &[&str])| {
        occurrences(&text, phrase).any(|(before, after)| {
            let mut continuations = continuations.iter();
            let follows_there = before.trim_end().ends_with("there");
            !follows_there && !continuations.any(|continuation| after.starts_with(continuation))
        })
    };
    let rejected = PHRASES.iter().find(is_rejected);
    rejected.map(|(phrase, _)| *phrase)
}

/// The text without code in backticks.
fn without_code(text: &str) -> String {
    text.split('`').step_by(2).collect::<Vec<_>>().join("`")
}

/// The texts before and after each occurrence of whole words.
fn occurrences<'a>(text: &'a str, words: &'a str) -> impl Iterator<Item = (&'a str, &'a str)> {
    let is_word = |c: char| c.is_alphanumeric() || c == '_';
    let places = text.match_indices(words);
    let split = places.map(|(start, words)| (&text[..start], &text[start + words.len()..]));
    split.filter(move |(before, after)| {
        (words.starts_with(',') || !before.ends_with(is_word)) && !after.starts_with(is_word)
    })
}

/// The comments of a source, without examples.
fn comments(source: &str) -> Vec<Paragraph> {
    let mut is_example = false;
    let lines = source.lines().map(|line| {
        let Some(comment) = line.trim_start().strip_prefix("//") else {
            is_example = false;
            return None;
        };
        let text = comment.trim_start_matches(['/', '!']);
        let is_fence = text.trim_start().starts_with("```");
        is_example ^= is_fence;
        let is_prose = !is_example && !is_fence;
        is_prose.then_some((comment.starts_with(['/', '!']), text))
    });
    joined(lines)
}

/// The prose of a page.
fn page_paragraphs(page: &str) -> Vec<Paragraph> {
    joined(lines(page).map(|(is_code, line)| (!is_code).then_some((false, line))))
}

/// Joins consecutive lines of prose. `None` and empty lines separate paragraphs.
fn joined<'a>(lines: impl Iterator<Item = Option<(bool, &'a str)>>) -> Vec<Paragraph> {
    let mut paragraphs: Vec<Paragraph> = Vec::new();
    let mut is_open = false;
    for (prose, line) in lines.zip(1..) {
        let Some((is_doc, text)) = prose.filter(|(_, text)| !text.trim().is_empty()) else {
            is_open = false;
            continue;
        };
        let text = text.trim();
        match paragraphs.last_mut() {
            Some(last) if is_open && last.is_doc == is_doc => {
                last.text.push(' ');
                last.text.push_str(text);
            }
            _ => paragraphs.push(Paragraph {
                line,
                is_doc,
                text: text.to_owned(),
            }),
        }
        is_open = true;
    }
    paragraphs
}
