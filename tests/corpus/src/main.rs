//! The attribute on every fallible function of published crates: those that compile, compared with a loop by hand.
//!
//! `cargo run --release --manifest-path tests/corpus/Cargo.toml [CRATE…]`

mod by_hand;
mod compiler;
mod functions;
mod krate;
mod patched;

use std::fs;
use std::path::Path;

use crate::krate::Crate;
use crate::patched::patched;

fn main() {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    let work = here.join("target/corpus");
    let wanted: Vec<_> = std::env::args().skip(1).collect();
    let rows = fs::read_to_string(here.join("crates.txt")).expect("the list");
    let rows = rows.lines().filter(|row| !row.starts_with('#'));
    let mut table = String::from(
        "| crate | functions | compile | refused in words | no loop by hand either | ours alone | new warnings | unit tests |\n|---|--:|--:|--:|--:|--:|--:|--:|\n",
    );
    let mut sums = [0; 6];
    for row in rows {
        let mut words = row.split(' ');
        let name = words.next().expect("a name");
        if !wanted.is_empty() && !wanted.iter().any(|wanted| wanted == name) {
            continue;
        }
        let version = words.next().expect("a version");
        let mut features: Vec<_> = words.collect();
        let has_tests = features.first() == Some(&"test");
        features.retain(|feature| *feature != "test");
        let folder = patched(&work, name, version);
        let krate = Crate::new(folder, features);
        let figures = krate.figures(name, has_tests);
        for (sum, count) in sums.iter_mut().zip(figures.counts) {
            *sum += count;
        }
        table.push_str(&line(name, version, figures.counts, &figures.tests));
        fs::write(work.join(format!("{name}.txt")), figures.details).expect("a file");
        println!("{}", table.lines().last().expect("a line"));
    }
    table.push_str(&line("all", "", sums, ""));
    fs::write(work.join("table.md"), &table).expect("a file");
    println!("\n{table}");
    assert_eq!(
        sums[4],
        0,
        "functions that only we don't compile: see {}",
        work.display()
    );
}

fn line(name: &str, version: &str, counts: [usize; 6], tests: &str) -> String {
    let counts: Vec<_> = counts.iter().map(usize::to_string).collect();
    format!("| {name} {version} | {} | {tests} |\n", counts.join(" | "))
}
