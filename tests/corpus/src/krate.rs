//! A crate and its fallible functions: those that compile with the attribute, and those that compile in a loop by hand.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::fs;
use std::path::PathBuf;

use crate::by_hand::{self, Way};
use crate::compiler;
use crate::functions::{self, Edit, Function};

/// No attempt is ever repeated, so that unit tests see what they saw before.
const ATTRIBUTE: &str = r#"#[::retry_runtime::retry(max = 2, backoff = "none", on = |_| false)] "#;

/// Makes the macro report where it was called: it never gets code that a feature excludes.
const PROBE: &str = "#[::retry_runtime::retry(corpus_probe)] ";

pub(crate) struct Crate<'a> {
    folder: PathBuf,
    features: Vec<&'a str>,
    functions: Vec<Function>,
    texts: BTreeMap<PathBuf, String>,
}

/// The reason why a function doesn't compile, by its index.
type Failures = BTreeMap<usize, String>;

pub(crate) struct Figures {
    /// The columns of the table: functions, compile, in words, no loop, ours alone, warnings.
    pub(crate) counts: [usize; 6],
    pub(crate) tests: String,
    pub(crate) details: String,
}

impl<'a> Crate<'a> {
    pub(crate) fn new(folder: PathBuf, features: Vec<&'a str>) -> Self {
        let functions = functions::of(&folder.join("src"));
        let files: BTreeSet<_> = functions.iter().map(|function| &function.file).collect();
        let read = |file: &PathBuf| (file.clone(), fs::read_to_string(file).expect("a file"));
        let texts = files.into_iter().map(read).collect();
        Self {
            folder,
            features,
            functions,
            texts,
        }
    }

    pub(crate) fn figures(&self, name: &str, has_tests: bool) -> Figures {
        let unchanged = compiler::check(&self.folder, &self.features);
        if let Some(error) = unchanged.iter().find(|message| message.is_error) {
            panic!("{name} does not compile: {}", error.text);
        }
        let tests = has_tests.then(|| compiler::unit_tests(&self.folder, &self.features));
        let all = (0..self.functions.len()).collect();
        let (reached, _) = self.failures(&all, before(PROBE), true);
        let reached: BTreeSet<_> = reached.into_keys().collect();
        let (failed, warnings) = self.failures(&reached, before(ATTRIBUTE), false);
        let after = has_tests.then(|| compiler::unit_tests(&self.folder, &self.features));
        let failed = failed.into_iter();
        let (refused, failed): (Failures, _) = failed.partition(|(_, why)| is_in_our_words(why));
        // Also those that are refused, to see what it is that words are about.
        let mut by_hand: BTreeSet<_> = refused.keys().chain(failed.keys()).copied().collect();
        let mut why = Failures::new();
        for way in [Way::Labelled, Way::Closed] {
            let edits = |function: &Function| by_hand::around(function, way);
            let is_possible = |index: &usize| edits(&self.functions[*index]).is_some();
            let possible = by_hand.iter().copied().filter(is_possible).collect();
            let (failed, _) = self.failures(&possible, edits, false);
            by_hand.retain(|index| !possible.contains(index) || failed.contains_key(index));
            why.extend(failed);
        }
        let details = self.details(&refused, &failed, &by_hand, &why);
        let alone = failed.keys().filter(|index| !by_hand.contains(index));
        let alone = alone.count();
        let before = unchanged.len();
        Figures {
            counts: [
                reached.len(),
                reached.len() - refused.len() - failed.len(),
                refused.len(),
                failed.len() - alone,
                alone,
                warnings.saturating_sub(before),
            ],
            tests: shown(tests.flatten(), after.flatten()),
            details,
        }
    }

    /// Changes these functions. As long as there are errors, excludes the functions that have one. Returns the reason
    /// for each of those, and the number of remaining warnings.
    fn failures(
        &self,
        changed: &BTreeSet<usize>,
        edits: impl Fn(&Function) -> Option<Vec<Edit>>,
        is_once: bool,
    ) -> (Failures, usize) {
        let mut changed = changed.clone();
        let mut failures = Failures::new();
        loop {
            self.write(&changed, &edits);
            let messages = compiler::check(&self.folder, &self.features);
            let (errors, warnings): (Vec<_>, Vec<_>) =
                messages.iter().partition(|message| message.is_error);
            if errors.is_empty() {
                return (failures, warnings.len());
            }
            let before = changed.len();
            // Another error of a function names what it calls, too.
            let tried = changed.clone();
            for error in &errors {
                let mut places = error.places.iter();
                let found = places.find_map(|place| self.function_at(place, &tried));
                if let Some(index) = found {
                    changed.remove(&index);
                    let code = error.code.as_deref().unwrap_or("-");
                    failures.insert(index, format!("{code} {}", error.text));
                }
            }
            if is_once {
                return (failures, 0);
            }
            assert!(
                changed.len() < before,
                "{}: no function of ours: {} at {:?}",
                self.folder.display(),
                errors[0].text,
                errors[0].places
            );
        }
    }

    fn function_at(
        &self,
        (file, line): &(PathBuf, usize),
        among: &BTreeSet<usize>,
    ) -> Option<usize> {
        among.iter().copied().find(|index| {
            let function = &self.functions[*index];
            function.file == *file && function.lines.contains(line)
        })
    }

    fn write(&self, changed: &BTreeSet<usize>, edits: impl Fn(&Function) -> Option<Vec<Edit>>) {
        for (file, text) in &self.texts {
            let own = changed.iter().map(|index| &self.functions[*index]);
            let own = own.filter(|function| function.file == *file);
            let new = functions::edited(text, own.filter_map(&edits).flatten().collect());
            if fs::read_to_string(file).expect("a file") != new {
                fs::write(file, new).expect("a file");
            }
        }
    }

    fn details(
        &self,
        refused: &Failures,
        failed: &Failures,
        by_hand: &BTreeSet<usize>,
        why: &Failures,
    ) -> String {
        let mut text = String::new();
        for (index, message) in refused.iter().chain(failed) {
            let function = &self.functions[*index];
            let file = function.file.strip_prefix(&self.folder);
            let file = file.expect("within").display();
            let class = match (refused.contains_key(index), by_hand.contains(index)) {
                (true, true) => "in words",
                (true, false) => "in words, compiles by hand",
                (false, true) => "no loop",
                (false, false) => "OURS ALONE",
            };
            let by_hand = why.get(index).map_or("", |why| why);
            writeln!(
                text,
                "{class}: {file}:{} {} -> {}\n    {message}\n    by hand: {by_hand}",
                function.lines.start, function.name, function.returned
            )
            .expect("a text");
        }
        text
    }
}

/// Puts an attribute before a function.
fn before(attribute: &str) -> impl Fn(&Function) -> Option<Vec<Edit>> {
    move |function| Some(vec![(function.start..function.start, attribute.to_owned())])
}

/// Messages of the macro have no code, as have some of rustc's. Those that the compiler gives for a trait of ours name
/// what is ours.
fn is_in_our_words(why: &str) -> bool {
    const OURS: [&str; 2] = ["`#[retry]`", "an attempt"];
    const OF_RUSTC: [&str; 7] = [
        "captured variable cannot escape",
        "lifetime may not live long enough",
        "future cannot be sent",
        "implementation of",
        "higher-ranked",
        "`async` return type",
        "async closure does not",
    ];
    let is_of_macro = why
        .strip_prefix("- ")
        .is_some_and(|text| !OF_RUSTC.iter().any(|words| text.starts_with(words)));
    is_of_macro || OURS.iter().any(|words| why.contains(words))
}

fn shown(before: Option<[u32; 2]>, after: Option<[u32; 2]>) -> String {
    match (before, after) {
        (Some(before), Some(after)) if before == after => format!("{} as before", before[0]),
        (Some(before), after) => format!("{before:?}, then {after:?}"),
        (None, _) => String::from("–"),
    }
}
