//! The folders of the crates import each other in one direction only, as documented in ARCHITECTURE.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

use crate::root;

#[test]
fn imports_between_folders_form_no_circle() {
    let mut found = 0;
    for krate in [
        "retry-classify",
        "retry-observers",
        "retry-protections",
        "retry-runtime",
        "retry-work",
        "retry-macros",
    ] {
        let source = root().join(krate).join("src");
        let mut left = imports(&source);
        assert!(left.len() > 3, "{krate}: {} folders", left.len());
        found += left.values().map(BTreeSet::len).sum::<usize>();
        // A module without remaining imports can't be part of a cycle.
        loop {
            let rooms: BTreeSet<_> = left.keys().cloned().collect();
            let before = left.len();
            left.retain(|_, imported| !imported.is_disjoint(&rooms));
            if left.len() == before {
                break;
            }
        }
        assert!(left.is_empty(), "{krate}: a circle among {left:#?}");
    }
    assert!(found > 60, "{found} imports");
}

/// From top to bottom, as documented in ARCHITECTURE. A folder doesn't import any folder above it.
const ORDER: [&[&str]; 7] = [
    &["macro_support"],
    &["chain", "stream"],
    &["call"],
    &["history", "site"],
    &["budget", "hedge", "configure"],
    &["admission", "policy", "observe", "testing"],
    &["time"],
];

#[test]
fn folders_of_the_runtime_import_downwards() {
    let source = root().join("retry-runtime/src");
    let level = |room: &str| ORDER.iter().position(|rooms| rooms.contains(&room));
    let mut found = 0;
    for (room, imported) in imports(&source) {
        let Some(own) = level(&room) else {
            assert!(
                !source.join(&room).is_dir(),
                "{room} has no place in the order"
            );
            continue;
        };
        for other in imported {
            let is_above = level(&other).is_some_and(|other| other < own);
            assert!(!is_above, "{room} imports {other}, which is above it");
            found += 1;
        }
    }
    assert!(found > 40, "{found} imports");
}

/// Returns the imports from the same crate for each file or folder directly in `source`, including its submodules.
fn imports(source: &Path) -> BTreeMap<String, BTreeSet<String>> {
    let mut imports = BTreeMap::<_, BTreeSet<_>>::new();
    for entry in fs::read_dir(source).unwrap() {
        let path = entry.unwrap().path();
        let room = path.file_stem().unwrap().to_str().unwrap().to_owned();
        // The crate's own file and its public modules name everything, and so do the links of the guide.
        if ["lib", "guide", "configuration", "own_loop", "seam"].contains(&room.as_str()) {
            continue;
        }
        let imported = imports.entry(room).or_default();
        of_files(&path, imported);
    }
    let rooms: BTreeSet<_> = imports.keys().cloned().collect();
    for (room, imported) in &mut imports {
        imported.retain(|other| other != room && rooms.contains(other));
    }
    imports
}

fn of_files(path: &Path, imported: &mut BTreeSet<String>) {
    if path.is_dir() {
        for entry in fs::read_dir(path).unwrap() {
            of_files(&entry.unwrap().path(), imported);
        }
        return;
    }
    let text = fs::read_to_string(path).unwrap();
    let code = text.lines().map(|line| line.split("//").next().unwrap());
    for line in code {
        for named in line.split("crate::").skip(1) {
            let end = named.find(|c: char| !c.is_ascii_lowercase() && c != '_');
            imported.insert(named[..end.unwrap_or(named.len())].to_owned());
        }
    }
}
