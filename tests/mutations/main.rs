//! Lists the mutations of the crates that no test notices: `cargo run -p mutations [--write] [--minutes N] [PATH…]`.
//!
//! All mutations are compiled at once, into a copy of the project in which an environment variable activates one of
//! them. A first run of the tests records which tests reach which mutation. Then these run once for each mutation.
//!
//! With paths, only mutations of files that begin with one of them are tested. `--write` writes the result into
//! `docs/reviewing.md`; without it, the program fails if more mutations survive than the page lists.

mod copy;
mod page;
mod places;
mod tests;

use std::collections::{BTreeMap, BTreeSet};
use std::env;
use std::error::Error;
use std::path::Path;
use std::process::ExitCode;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::thread;
use std::time::{Duration, Instant};

use copy::Copy;
use tests::{Binary, build, reached};

/// Tests run for this number of mutations at the same time.
const WORKERS: usize = 2;

/// The tests that reach a mutation, for each index of their binary.
type Tests = BTreeMap<usize, BTreeSet<String>>;

fn main() -> Result<ExitCode, Box<dyn Error>> {
    let (mut paths, mut writes, mut until) = (Vec::new(), false, None);
    let mut arguments = env::args().skip(1);
    while let Some(argument) = arguments.next() {
        match &*argument {
            "--write" => writes = true,
            "--minutes" => {
                let minutes: u64 = arguments
                    .next()
                    .ok_or("--minutes needs a number")?
                    .parse()?;
                until = Some(Duration::from_mins(minutes));
            }
            _ => paths.push(argument),
        }
    }
    let root = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../..")
        .canonicalize()?;
    let target = env::var_os("CARGO_TARGET_DIR").map_or_else(|| root.join("target"), Into::into);
    let mut copy = Copy::new(&root, target.join("mutations"))?;
    let mut binaries = build(&mut copy, &target, &paths)?;
    let is_chosen = |number: &usize| {
        let file = &copy.mutations[*number].file;
        paths.is_empty() || paths.iter().any(|path| file.starts_with(path))
    };
    let reached = reached(&mut binaries, &target.join("mutations_reached"))?;
    let mut chosen: Vec<_> = reached
        .into_iter()
        .filter(|(number, _)| is_chosen(number))
        .collect();
    println!(
        "{} mutations, tests reach {}",
        copy.mutations.len() - copy.dropped.len(),
        chosen.len()
    );
    // In an order in which the first ones are from all files, in case there isn't time for all.
    chosen.sort_by_key(|(number, _)| (number % 16, *number));
    let until = until.map(|time| Instant::now() + time);
    let results = results(&copy, &binaries, &chosen, until);
    page::report(&root, &copy, &results, writes)
}

/// Runs the tests for each mutation until that time. Returns its number, and true if it survives.
fn results(
    copy: &Copy,
    binaries: &[Binary],
    chosen: &[(usize, Tests)],
    until: Option<Instant>,
) -> BTreeMap<usize, bool> {
    let next = AtomicUsize::new(0);
    let work = || {
        let mut results = Vec::new();
        while until.is_none_or(|until| Instant::now() < until)
            && let Some((number, tests)) = chosen.get(next.fetch_add(1, Relaxed))
        {
            let passes = |(binary, tests): (&usize, _)| binaries[*binary].passes(tests, *number);
            let survives = tests.iter().all(passes);
            if survives {
                println!("{}", copy.describe(*number));
            }
            results.push((*number, survives));
        }
        results
    };
    thread::scope(|scope| {
        let workers: Vec<_> = (0..WORKERS).map(|_| scope.spawn(work)).collect();
        workers
            .into_iter()
            .flat_map(|worker| worker.join().expect("no panic"))
            .collect()
    })
}
