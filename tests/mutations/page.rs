//! The result: a table on the page for reviewers, and the list of survivors.

use std::collections::{BTreeMap, BTreeSet};
use std::error::Error;
use std::fmt::Write;
use std::fs;
use std::path::Path;
use std::process::ExitCode;

use crate::copy::{Copy, MUTATED};

const PAGE: &str = "docs/reviewing.md";
/// The lines of the page before and after the table.
const MARKERS: [&str; 2] = ["<!-- mutations -->\n\n", "\n<!-- end of mutations -->"];
const SURVIVORS: &str = "tests/mutations/survivors.txt";

/// Writes the result, or fails if a mutation survives that is not in the list.
pub(crate) fn report(
    root: &Path,
    copy: &Copy,
    results: &BTreeMap<usize, bool>,
    writes: bool,
) -> Result<ExitCode, Box<dyn Error>> {
    let page = fs::read_to_string(root.join(PAGE))?;
    let (before, rest) = page.split_once(MARKERS[0]).ok_or("no marker")?;
    let (there, after) = rest.split_once(MARKERS[1]).ok_or("no marker")?;
    let table = table(copy, results, there)?;
    println!("{table}");
    let listed = fs::read_to_string(root.join(SURVIVORS))?;
    if writes {
        let is_listed = |description: &String| listed.lines().any(|line| line == description);
        let survives = |number: &usize| match results.get(number) {
            Some(survives) => *survives,
            None => is_listed(&copy.describe(*number)),
        };
        let survivors = (0..copy.mutations.len()).filter(survives);
        let lines = survivors.map(|number| copy.describe(number) + "\n");
        fs::write(root.join(SURVIVORS), lines.collect::<String>())?;
        let page = [before, MARKERS[0], &table, MARKERS[1], after];
        fs::write(root.join(PAGE), page.concat())?;
        return Ok(ExitCode::SUCCESS);
    }
    let listed: BTreeSet<_> = listed.lines().map(without_line).collect();
    let survivors = results.iter().filter(|(_, survives)| **survives);
    let survivors = survivors.map(|(number, _)| copy.describe(*number));
    let new: Vec<_> = survivors
        .filter(|line| !listed.contains(&without_line(line)))
        .collect();
    if new.is_empty() {
        return Ok(ExitCode::SUCCESS);
    }
    println!("not in {SURVIVORS}:\n{}", new.join("\n"));
    Ok(ExitCode::FAILURE)
}

/// For each part of the code, how many mutations were tested and how many of them were noticed. If none was tested, the
/// earlier row.
fn table(
    copy: &Copy,
    results: &BTreeMap<usize, bool>,
    earlier: &str,
) -> Result<String, Box<dyn Error>> {
    let mut table = String::from("| code | mutations | tested | noticed |\n|---|--:|--:|--:|\n");
    for part in MUTATED {
        let within = |number: &usize| copy.mutations[*number].file.starts_with(part);
        let all = (0..copy.mutations.len()).filter(|number| !copy.dropped.contains(number));
        let of_part = results.iter().filter(|(number, _)| within(number));
        let (survived, noticed): (Vec<_>, Vec<_>) = of_part.partition(|(_, survives)| **survives);
        let (tested, noticed) = (survived.len() + noticed.len(), noticed.len());
        let start = format!("| `{part}` |");
        if let Some(share) = (100 * noticed).checked_div(tested) {
            let all = all.filter(within).count();
            writeln!(table, "{start} {all} | {tested} | {noticed} ({share} %) |")?;
        } else if let Some(row) = earlier.lines().find(|row| row.starts_with(&start)) {
            writeln!(table, "{row}")?;
        }
    }
    Ok(table)
}

/// The file and the change, without the line, which changes more often.
fn without_line(survivor: &str) -> (&str, &str) {
    let (file, rest) = survivor.split_once(':').unwrap_or_default();
    (file, rest.split_once(": ").unwrap_or_default().1)
}
