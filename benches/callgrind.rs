//! Runs this program under valgrind's callgrind and reads its profile.

use std::collections::HashMap;
use std::env;
use std::fmt;
use std::fs;
use std::io;
use std::process::{Command, Stdio};

/// Numbers of instructions: the total, and the instructions from some kinds of source files.
///
/// The source is taken from the line tables, so inlined code is counted, too.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Counts {
    pub(crate) all: f64,
    /// Instructions of clocks: the standard library's, tokio's and libc's.
    pub(crate) clock: f64,
    /// Instructions of random number generators.
    pub(crate) random: f64,
    /// Instructions of the standard library's atomics.
    pub(crate) atomics: f64,
}

impl Counts {
    /// Returns the cost of one call, if `self` made `calls` more calls than `fewer`.
    pub(crate) fn per_call(self, fewer: Self, calls: f64) -> Self {
        Self {
            all: (self.all - fewer.all) / calls,
            clock: (self.clock - fewer.clock) / calls,
            random: (self.random - fewer.random) / calls,
            atomics: (self.atomics - fewer.atomics) / calls,
        }
    }
}

impl fmt::Display for Counts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            all,
            clock,
            random,
            atomics,
        } = self;
        write!(
            f,
            "{all:.1} instructions (clock {clock:.1}, random {random:.1}, atomics {atomics:.1})"
        )
    }
}

/// Parts of the names of source files, or of libc functions without a source file.
const CLOCK: &[&str] = &[
    "/std/src/time.rs",
    "/std/src/sys/pal/unix/time.rs",
    "/std/src/sys/time/",
    "/src/time/clock.rs",
    "/src/time/instant.rs",
    "clock_gettime",
];
const RANDOM: &[&str] = &["/fastrand-", "/rand-", "/rand_", "/std/src/hash/random.rs"];
const ATOMICS: &[&str] = &["/core/src/sync/atomic.rs"];

#[derive(Debug)]
pub(crate) enum Failure {
    NoValgrind,
    Valgrind(String),
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoValgrind => f.write_str(
                "Counting instructions needs valgrind, and there is none. Install it with the system's packages, \
                 as `apt-get install valgrind` or `dnf install valgrind`.",
            ),
            Self::Valgrind(how) => write!(f, "valgrind counted nothing: {how}"),
        }
    }
}

/// Runs this program again with these arguments, under callgrind.
pub(crate) fn run(arguments: &[&str]) -> Result<Counts, Failure> {
    let failure = |error: io::Error| Failure::Valgrind(error.to_string());
    let program = env::current_exe().map_err(failure)?;
    let profile = program.with_extension("callgrind");
    let output = Command::new("valgrind")
        .arg("--tool=callgrind")
        .arg(format!("--callgrind-out-file={}", profile.display()))
        .arg(program)
        .args(arguments)
        .stdin(Stdio::null())
        .output()
        .map_err(|error| match error.kind() {
            io::ErrorKind::NotFound => Failure::NoValgrind,
            _ => failure(error),
        })?;
    if !output.status.success() {
        return Err(Failure::Valgrind(output.status.to_string()));
    }
    let counts = read(&fs::read_to_string(&profile).map_err(failure)?);
    if counts.all == 0.0 {
        return Err(Failure::Valgrind(String::from("its profile is empty")));
    }
    Ok(counts)
}

/// Adds up the costs of a profile, whose format is described in valgrind's manual.
fn read(profile: &str) -> Counts {
    let mut names = Names::default();
    let (mut file, mut function) = (String::new(), String::new());
    let mut counts = Counts::default();
    let mut of_callee = false;
    for line in profile.lines() {
        if let Some((key, value)) = line.split_once('=') {
            match key {
                "fl" | "fi" | "fe" => file = names.of(Kind::File, value),
                "fn" => function = names.of(Kind::Function, value),
                "cfi" | "cfl" => drop(names.of(Kind::File, value)),
                "cfn" => drop(names.of(Kind::Function, value)),
                // The next line is the callee's cost, which is also listed under the callee.
                "calls" => of_callee = true,
                _ => {}
            }
            continue;
        }
        let Some(cost) = own_cost(line) else { continue };
        if of_callee {
            of_callee = false;
            continue;
        }
        let is = |parts: &[&str]| {
            parts
                .iter()
                .any(|part| file.contains(part) || function.contains(part))
        };
        counts.all += cost;
        counts.clock += if is(CLOCK) { cost } else { 0.0 };
        counts.random += if is(RANDOM) { cost } else { 0.0 };
        counts.atomics += if is(ATOMICS) { cost } else { 0.0 };
    }
    counts
}

/// Returns the cost in a line with a position (`16`, `+3`, `-3` or `*`) and a cost.
fn own_cost(line: &str) -> Option<f64> {
    let (position, cost) = line.split_once(' ')?;
    position
        .chars()
        .all(|char| char.is_ascii_digit() || matches!(char, '+' | '-' | '*'))
        .then(|| cost.parse().ok())?
}

#[derive(Clone, Copy, PartialEq, Eq, Hash)]
enum Kind {
    File,
    Function,
}

/// The names in a profile. A name is written in full once, as `(7) name`, and then as `(7)`.
#[derive(Default)]
struct Names(HashMap<(Kind, String), String>);

impl Names {
    fn of(&mut self, kind: Kind, value: &str) -> String {
        let Some((id, name)) = value.split_once(')') else {
            return String::from(value);
        };
        let known = self.0.entry((kind, String::from(id))).or_default();
        if !name.is_empty() {
            *known = String::from(name.trim_start());
        }
        known.clone()
    }
}
