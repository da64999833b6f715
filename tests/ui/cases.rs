//! Tables of programs: text files in which each program has a heading, `== name`, and contains the errors that are
//! expected.
//!
//! With `UPDATE_EXPECT=1`, `check` writes what it found instead of comparing.

use std::env;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::thread;

pub(crate) struct Case {
    pub(crate) name: String,
    pub(crate) text: String,
}

/// The line between a program and the compiler's errors.
pub(crate) const ERRORS: &str = "----\n";

impl Case {
    /// The program without the errors: those of the macros are below their lines, and start with carets.
    pub(crate) fn program(&self) -> String {
        let program = self.text.split(ERRORS).next().expect("a program");
        let is_source = |line: &&str| !line.trim_start().starts_with('^');
        program.split_inclusive('\n').filter(is_source).collect()
    }
}

/// The tables in a folder, each with its cases.
pub(crate) fn tables(folder: &Path) -> Vec<(PathBuf, Vec<Case>)> {
    let entries = fs::read_dir(folder).expect("a folder");
    let entries = entries.map(|entry| entry.expect("an entry").path());
    let mut paths: Vec<_> = entries.collect();
    paths.sort();
    let cases = |path: &PathBuf| {
        let table = format!("\n{}", fs::read_to_string(path).expect("a table"));
        let cases = table.split("\n== ").skip(1).map(|case| {
            let (name, text) = case.split_once('\n').expect("a heading");
            let (name, text) = (name.to_owned(), format!("{}\n", text.trim_end()));
            Case { name, text }
        });
        cases.collect()
    };
    paths
        .into_iter()
        .map(|path| (path.clone(), cases(&path)))
        .collect()
}

/// Compares the text of each case with what `run` returns for it.
pub(crate) fn check(folder: &Path, run: impl Fn(&Case) -> String + Sync) {
    let mut failures = Vec::new();
    for (path, cases) in tables(folder) {
        let found = in_parallel(&cases, &run);
        if env::var_os("UPDATE_EXPECT").is_some() {
            let cases = cases.iter().zip(&found);
            let cases = cases.map(|(case, found)| format!("== {}\n{found}", case.name));
            fs::write(&path, cases.collect::<Vec<_>>().join("\n")).expect("a table");
            continue;
        }
        for (case, found) in cases.iter().zip(&found) {
            if case.text != *found {
                let lines = difference(&case.text, found);
                failures.push(format!("{}: {}\n{lines}", path.display(), case.name));
            }
        }
    }
    let failures = failures.join("\n");
    assert!(
        failures.is_empty(),
        "\n{failures}\n`UPDATE_EXPECT=1` updates the tables"
    );
}

/// Maps all items, on as many threads as there are cores.
pub(crate) fn in_parallel<T: Sync, R: Send>(items: &[T], map: impl Fn(&T) -> R + Sync) -> Vec<R> {
    let next = AtomicUsize::new(0);
    let take = || {
        let taken = std::iter::repeat_with(|| next.fetch_add(1, Relaxed));
        let items = taken.map_while(|index| Some((index, map(items.get(index)?))));
        items.collect::<Vec<_>>()
    };
    let mut mapped: Vec<_> = thread::scope(|scope| {
        let cores = thread::available_parallelism().map_or(1, usize::from);
        let threads: Vec<_> = (0..cores).map(|_| scope.spawn(take)).collect();
        let mapped = threads
            .into_iter()
            .map(|thread| thread.join().expect("a result"));
        mapped.flatten().collect()
    });
    mapped.sort_by_key(|(index, _)| *index);
    mapped.into_iter().map(|(_, result)| result).collect()
}

/// The lines between the first and the last that differ, those expected with `-` and those found with `+`, below the
/// two lines before them.
fn difference(expected: &str, found: &str) -> String {
    let [expected, found] = [expected, found].map(|text| text.lines().collect::<Vec<_>>());
    let equal = |(one, other): &(&&str, &&str)| one == other;
    let start = expected.iter().zip(&found).take_while(equal).count();
    let ends = expected[start..]
        .iter()
        .rev()
        .zip(found[start..].iter().rev());
    let end = ends.take_while(equal).count();
    let before = expected[start.saturating_sub(2)..start]
        .iter()
        .map(|line| format!("  {line}\n"));
    let expected = expected[start..expected.len() - end]
        .iter()
        .map(|line| format!("- {line}\n"));
    let found = found[start..found.len() - end]
        .iter()
        .map(|line| format!("+ {line}\n"));
    before.chain(expected).chain(found).collect()
}
