//! The folders of the crates import each other in one direction only, as documented in ARCHITECTURE.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

use crate::{root, sources};

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
        for (_, text) in sources(&path) {
            of_text(&text, imported);
        }
    }
    let rooms: BTreeSet<_> = imports.keys().cloned().collect();
    for (room, imported) in &mut imports {
        imported.retain(|other| other != room && rooms.contains(other));
    }
    imports
}

fn of_text(text: &str, imported: &mut BTreeSet<String>) {
    let code = text.lines().map(|line| line.split("//").next().unwrap());
    for line in code {
        for named in line.split("crate::").skip(1) {
            let end = named.find(|c: char| !c.is_ascii_lowercase() && c != '_');
            imported.insert(named[..end.unwrap_or(named.len())].to_owned());
        }
    }
}

/// The most lines of code in a folder of the runtime: what can be read in an afternoon.
const MOST: usize = 3_000;

#[test]
fn no_folder_of_the_runtime_is_large() {
    let source = root().join("retry-runtime/src");
    for room in ORDER.into_iter().flatten() {
        let files = [source.join(room), source.join(format!("{room}.rs"))];
        let texts = files.iter().flat_map(|path| sources(path));
        let is_code = |line: &str| !line.is_empty() && !line.starts_with("//");
        let lines = |text: String| text.lines().filter(|line| is_code(line.trim())).count();
        let lines: usize = texts.map(|(_, text)| lines(text)).sum();
        assert!(lines > 50 && lines <= MOST, "{room}: {lines} lines");
    }
}

/// The documentation of `macro_support` lists the hidden items that our other crates use, with the reason for each.
#[test]
fn hidden_items_of_the_runtime_are_listed() {
    const PATH: &str = "retry_runtime::macro_support::";
    let support = fs::read_to_string(root().join("retry-runtime/src/macro_support.rs")).unwrap();
    let (listed, _) = support.split_once("\nmod ").expect("documentation");
    let mut used = 0;
    for krate in [
        "retry-protections",
        "retry-observers",
        "retry-work",
        "retry-durable",
        "retry-clients",
    ] {
        let (_, listed) = listed.split_once(&format!("`{krate}` uses ")).expect(krate);
        let listed = listed.split("` uses ").next().unwrap();
        for (path, text) in sources(&root().join(krate).join("src")) {
            for named in text.split(PATH).skip(1) {
                let end = match named.strip_prefix('{') {
                    Some(list) => list.find('}').unwrap() + 1,
                    None => named
                        .find(|c: char| !c.is_alphanumeric() && c != '_')
                        .unwrap(),
                };
                let names = named[..end].trim_matches(['{', '}']).split(',');
                for name in names.map(str::trim).filter(|name| !name.is_empty()) {
                    let is_listed = ["`]", "::"]
                        .iter()
                        .any(|end| listed.contains(&format!("[`{name}{end}")));
                    assert!(is_listed, "{}: {name}", path.display());
                    used += 1;
                }
            }
        }
    }
    assert!(used > 40, "{used} uses");
}

#[test]
fn the_front_page_of_the_runtime_fits_on_a_screen() {
    let items = fs::read_to_string(root().join(".ci/api/retry-runtime")).unwrap();
    let is_name = |line: &&str| {
        let name = line.strip_prefix("retry_runtime::");
        let name = name.and_then(|name| name.split_once(": "));
        name.is_some_and(|(name, item)| !name.contains("::") && item.starts_with("pub "))
    };
    let names: Vec<_> = items.lines().filter(is_name).collect();
    assert!(
        (20..=28).contains(&names.len()),
        "{}: {names:#?}",
        names.len()
    );
}
