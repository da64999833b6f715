//! Tests of the project's pages: examples run, named files exist, and the layout works on a forge and in a browser.

mod counts;
mod dependencies;
mod described;
mod guide;
mod keys;
mod layout;
mod named_paths;
mod prose;
mod readme;
mod rooms;
mod versions;

use std::fs;
use std::path::{Path, PathBuf};

/// The project's folder.
fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn read(page: &str) -> String {
    let path = root().join(page);
    let text = fs::read_to_string(&path);
    text.unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// The files in a folder with that ending, or the file itself. None if there is no such path.
fn files(path: &Path, ending: &str) -> Vec<PathBuf> {
    if path.is_dir() {
        let entries = fs::read_dir(path).expect("a folder");
        let paths = entries.map(|entry| entry.expect("a file").path());
        return paths.flat_map(|path| files(&path, ending)).collect();
    }
    let has_ending = path.extension().is_some_and(|end| end == ending);
    Vec::from_iter((has_ending && path.is_file()).then(|| path.to_owned()))
}

/// The texts of the sources of a crate, or of a part of it.
fn sources(path: &Path) -> impl Iterator<Item = (PathBuf, String)> + use<> {
    let files = files(path, "rs").into_iter();
    files.map(|path| (path.clone(), fs::read_to_string(path).expect("a source")))
}

/// The pages at the top, and those in `docs`.
fn pages() -> Vec<String> {
    let docs = fs::read_dir(root().join("docs")).expect("a folder");
    let names = docs.map(|entry| entry.expect("a file").file_name());
    let mut pages: Vec<_> = names
        .map(|name| format!("docs/{}", name.to_str().expect("a name in UTF-8")))
        .filter(|name| Path::new(name).extension().is_some_and(|end| end == "md"))
        .collect();
    let top = ["README", "ARCHITECTURE", "CONTRIBUTING", "SECURITY"];
    pages.extend(top.map(|name| format!("{name}.md")));
    pages
}

/// Returns the lines of a page, each with `true` if it is in a fenced block.
fn lines(text: &str) -> impl Iterator<Item = (bool, &str)> {
    let mut is_code = false;
    text.lines().map(move |line| {
        let is_fence = line.starts_with("```");
        is_code ^= is_fence;
        (is_code && !is_fence, line)
    })
}

/// Returns the content of the page's first fenced block in this language.
fn block<'a>(text: &'a str, language: &str) -> &'a str {
    let fence = format!("```{language}");
    let (_, rest) = text.split_once(&fence).expect("a block");
    let (_, rest) = rest.split_once('\n').expect("a line");
    let (block, _) = rest.split_once("```").expect("an end");
    block
}
