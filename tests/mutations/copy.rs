//! The copy of the project that contains all mutations.

use std::collections::{BTreeMap, BTreeSet};
use std::error::Error;
use std::fs;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::places::{Place, places};

/// The crates with mutations.
pub(crate) const CRATES: [&str; 3] = ["retry-macros", "retry-protections", "retry-runtime"];

/// The files and folders with mutations, without the ending of files.
pub(crate) const MUTATED: [&str; 8] = [
    "retry-macros/src/expand",
    "retry-protections/src",
    "retry-runtime/src/admission",
    "retry-runtime/src/budget",
    "retry-runtime/src/call",
    "retry-runtime/src/hedge",
    "retry-runtime/src/policy",
    "retry-runtime/src/stream",
];

const MANIFEST: &str = "[package]\nname = \"mutated\"\nedition = \"2024\"\n";

/// A mutation of a file. Its number is its index.
pub(crate) struct Mutation {
    pub(crate) file: String,
    pub(crate) place: Place,
}

#[derive(Default)]
pub(crate) struct Copy {
    pub(crate) root: PathBuf,
    pub(crate) mutations: Vec<Mutation>,
    /// The numbers of mutations that don't compile.
    pub(crate) dropped: BTreeSet<usize>,
    files: Vec<File>,
}

struct File {
    path: String,
    source: String,
    numbers: Range<usize>,
}

impl Copy {
    /// Copies all files that git tracks or would add.
    pub(crate) fn new(from: &Path, root: PathBuf) -> Result<Self, Box<dyn Error>> {
        let list = ["ls-files", "--cached", "--others", "--exclude-standard"];
        let listed = Command::new("git").args(list).current_dir(from).output()?;
        let mut copy = Self {
            root,
            ..Self::default()
        };
        let listed = String::from_utf8(listed.stdout)?;
        // Neither links to folders nor deleted files.
        let paths = listed.lines().filter(|path| from.join(path).is_file());
        let paths: BTreeSet<_> = paths.collect();
        fs::create_dir_all(&copy.root)?;
        copy.remove_deleted(&copy.root, &paths)?;
        for path in paths {
            let content = fs::read(from.join(path))?;
            if is_mutated(path) {
                copy.add(path, String::from_utf8(content)?)?;
            } else if CRATES
                .iter()
                .any(|name| *path == format!("{name}/Cargo.toml"))
            {
                let dependency = "[dependencies]\nmutated = { path = \"../mutated\" }\n";
                let manifest = String::from_utf8(content)?.replace("[dependencies]\n", dependency);
                copy.write(path, manifest.as_bytes())?;
            } else {
                copy.write(path, &content)?;
            }
        }
        copy.write("mutated/Cargo.toml", MANIFEST.as_bytes())?;
        copy.write("mutated/src/lib.rs", include_bytes!("mutated.rs"))?;
        let dropped = copy.files.iter().flat_map(|file| copy.dropped_before(file));
        copy.dropped = dropped.collect();
        copy.mutate()?;
        Ok(copy)
    }

    /// Removes the files of an earlier copy that the project no longer has.
    fn remove_deleted(&self, folder: &Path, listed: &BTreeSet<&str>) -> std::io::Result<()> {
        for entry in fs::read_dir(folder)? {
            let path = entry?.path();
            let relative = path.strip_prefix(&self.root).expect("within the copy");
            if path.is_dir() {
                self.remove_deleted(&path, listed)?;
            } else if !relative.starts_with("mutated")
                && !listed.contains(&*relative.to_string_lossy())
            {
                fs::remove_file(&path)?;
            }
        }
        Ok(())
    }

    fn add(&mut self, path: &str, source: String) -> syn::Result<()> {
        let first = self.mutations.len();
        for place in places(&source)? {
            let file = path.to_owned();
            self.mutations.push(Mutation { file, place });
        }
        let numbers = first..self.mutations.len();
        self.files.push(File {
            path: path.to_owned(),
            source,
            numbers,
        });
        Ok(())
    }

    /// Writes a file only if it has changed, so that Cargo doesn't compile it again.
    fn write(&self, path: &str, content: &[u8]) -> std::io::Result<()> {
        let path = self.root.join(path);
        if fs::read(&path).is_ok_and(|there| there == content) {
            return Ok(());
        }
        fs::create_dir_all(path.parent().unwrap_or(&self.root))?;
        fs::write(path, content)
    }

    /// Writes the files with all mutations that are not dropped.
    pub(crate) fn mutate(&self) -> std::io::Result<()> {
        self.files.iter().try_for_each(|file| {
            let (text, _) = self.mutated(file, &self.dropped);
            self.write(&file.path, text.as_bytes())
        })
    }

    pub(crate) fn describe(&self, number: usize) -> String {
        let Mutation { file, place } = &self.mutations[number];
        format!("{file}:{}: {}", place.line, place.change)
    }

    /// The mutations that are missing in an earlier copy of this file, if that copy is still valid.
    fn dropped_before(&self, file: &File) -> BTreeSet<usize> {
        let there = fs::read_to_string(self.root.join(&file.path)).unwrap_or_default();
        let is_missing = |number: &usize| !there.contains(&format!("::on({number})"));
        let missing = file.numbers.clone().filter(is_missing).collect();
        let (text, _) = self.mutated(file, &missing);
        if text == there {
            missing
        } else {
            BTreeSet::new()
        }
    }

    /// The mutations to blame for a compiler's error at this file, line and column: the innermost around it, or else
    /// all that are at most five lines away.
    pub(crate) fn blamed(&self, (path, line, column): (&str, usize, usize)) -> Vec<usize> {
        let Some(file) = self.files.iter().find(|file| file.path == path) else {
            return Vec::new();
        };
        let (text, regions) = self.mutated(file, &self.dropped);
        let start = |line| {
            text.split_inclusive('\n')
                .take(line)
                .map(str::len)
                .sum::<usize>()
        };
        let offset = start(line - 1) + column - 1;
        let around = regions
            .iter()
            .filter(|(_, region)| region.contains(&offset));
        if let Some((number, _)) = around.min_by_key(|(_, region)| region.len()) {
            return vec![*number];
        }
        let near = start(line.saturating_sub(6))..start(line + 5);
        let nearby = regions
            .iter()
            .filter(|(_, region)| near.contains(&region.start));
        nearby.map(|(number, _)| *number).collect()
    }

    /// The text of a file with its mutations except those dropped, and where each of them is.
    fn mutated(
        &self,
        file: &File,
        dropped: &BTreeSet<usize>,
    ) -> (String, BTreeMap<usize, Range<usize>>) {
        let mut inserted = Vec::new();
        let numbers = file.numbers.clone();
        for number in numbers.filter(|number| !dropped.contains(number)) {
            let place = &self.mutations[number].place;
            let (before, after) = place.around(number);
            // At the same position, ends are first. An outer mutation has a lower number, begins first and ends last.
            inserted.push((place.range.start, 1, number, number, before));
            if !place.range.is_empty() {
                let order = usize::MAX - number;
                inserted.push((place.range.end, 0, order, number, after.to_owned()));
            }
        }
        inserted.sort();
        let (mut text, mut copied) = (String::new(), 0);
        let mut regions = BTreeMap::<usize, Range<usize>>::new();
        for (at, _, _, number, code) in inserted {
            text += &file.source[copied..at];
            copied = at;
            let start = text.len();
            text += &code;
            let region = regions.entry(number).or_insert(start..start);
            region.end = text.len();
        }
        text += &file.source[copied..];
        (text, regions)
    }
}

fn is_mutated(path: &str) -> bool {
    let within = |part: &str| match path.strip_prefix(part) {
        Some(rest) => rest == ".rs" || rest.starts_with('/'),
        None => false,
    };
    let is_source = Path::new(path)
        .extension()
        .is_some_and(|extension| extension == "rs");
    is_source && !path.ends_with("tests.rs") && MUTATED.into_iter().any(within)
}
