//! Builds and runs the tests.

use std::collections::{BTreeMap, BTreeSet};
use std::error::Error;
use std::fs;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::mpsc;
use std::thread;
use std::time::{Duration, Instant};

use crate::copy::Copy;

/// The start of the paths of mutations, and the arguments of Cargo for the tests that run for them. Macros run when
/// tests are compiled, so for them, only tests that call them directly notice a mutation.
const TESTS: [(&str, &str); 2] = [
    ("retry-macros", "--package retry-macros --features stream"),
    (
        "retry-",
        "--package behaviour --test agents --test behaviour --test calls --test installed \
        --test whole_program --package retry-protections --package retry-runtime",
    ),
];

/// Tests with random input, and one of all pairs of keys: they take long, and notice nothing that others don't.
const SKIPPED: [&str; 4] = ["--skip", "fuzz::", "--skip", "pairs::"];

pub(crate) struct Binary {
    path: PathBuf,
    folder: PathBuf,
    tests: BTreeSet<String>,
    time_per_test: Duration,
}

/// For each number of a mutation, and each index of a binary that reaches it: the tests that do. The empty string
/// stands for threads that tests have started.
pub(crate) type Reached = BTreeMap<usize, BTreeMap<usize, BTreeSet<String>>>;

/// Builds the tests without the mutations that don't compile. Tests of macros alone are built if all paths are theirs.
pub(crate) fn build(
    copy: &mut Copy,
    target: &Path,
    paths: &[String],
) -> Result<Vec<Binary>, Box<dyn Error>> {
    let mut binaries = Vec::new();
    for (start, arguments) in TESTS {
        let is_chosen = |path: &String| {
            path.starts_with(start) && (start != "retry-" || !path.starts_with(TESTS[0].0))
        };
        if paths.is_empty() || paths.iter().any(is_chosen) {
            build_some(copy, target, arguments, &mut binaries)?;
        }
    }
    Ok(binaries)
}

fn build_some(
    copy: &mut Copy,
    target: &Path,
    arguments: &str,
    binaries: &mut Vec<Binary>,
) -> Result<(), Box<dyn Error>> {
    loop {
        let output = Command::new("cargo")
            .args("test -j2 --no-run --message-format short --lib".split(' '))
            .args(arguments.split_whitespace())
            .current_dir(&copy.root)
            .env("CARGO_TARGET_DIR", target)
            .env("CARGO_INCREMENTAL", "0")
            .env("CARGO_PROFILE_DEV_DEBUG", "0")
            .output()?;
        let text = String::from_utf8(output.stderr)?;
        if output.status.success() {
            for path in text.lines().filter_map(executable) {
                binaries.push(Binary::new(copy, path)?);
            }
            return Ok(());
        }
        let places = text.lines().filter_map(error);
        let wrong: BTreeSet<_> = places.flat_map(|place| copy.blamed(place)).collect();
        if wrong.is_empty() {
            return Err(text.into());
        }
        println!("{} mutations don't compile", wrong.len());
        copy.dropped.extend(wrong);
        copy.mutate()?;
    }
}

/// The path in a line such as `Executable tests/main.rs (target/debug/deps/main-0123)`.
fn executable(line: &str) -> Option<&str> {
    let (_, path) = line.trim().strip_prefix("Executable ")?.rsplit_once('(')?;
    path.strip_suffix(')')
}

/// The file, line and column in a line such as `src/lib.rs:1:2: error: …`.
fn error(line: &str) -> Option<(&str, usize, usize)> {
    let (place, message) = line.split_once(": ")?;
    let (file, place) = place.split_once(':')?;
    let (line, column) = place.split_once(':')?;
    let place = (file, line.parse().ok()?, column.parse().ok()?);
    message.starts_with("error").then_some(place)
}

impl Binary {
    fn new(copy: &Copy, path: &str) -> Result<Self, Box<dyn Error>> {
        let path = copy.root.join(path);
        let name = path.file_name().and_then(|name| name.to_str());
        let name = name.ok_or("a name")?;
        let package = name.rsplit_once('-').ok_or("a hash")?.0.replace('_', "-");
        let folder = Some(copy.root.join(package)).filter(|folder| folder.exists());
        let folder = folder.unwrap_or_else(|| copy.root.join("tests/behaviour"));
        let mut list = Command::new(&path);
        let list = list.args(["--list", "--format", "terse"]).output()?;
        let tests = String::from_utf8(list.stdout)?;
        let tests = tests.lines().filter_map(|line| line.strip_suffix(": test"));
        let tests = tests.map(str::to_owned).collect();
        let time_per_test = Duration::from_secs(1);
        Ok(Self {
            path,
            folder,
            tests,
            time_per_test,
        })
    }

    /// Runs these tests, or all if there are none. Returns true if they pass.
    fn run(&self, tests: &[&String], variable: (&str, &str)) -> Result<bool, Box<dyn Error>> {
        // A mutation may allocate in an endless loop.
        let mut command = Command::new("sh");
        command.args(["-c", "ulimit -v 8000000; exec \"$@\"", "sh"]);
        command.arg(&self.path);
        if tests.is_empty() {
            command.args(SKIPPED);
        } else {
            command.arg("--exact").args(tests);
        }
        let mut child = command
            .current_dir(&self.folder)
            .env("CARGO_MANIFEST_DIR", &self.folder)
            .env(variable.0, variable.1)
            // With one thread, the harness wouldn't start one for each test.
            .env("RUST_TEST_THREADS", "2")
            .env("PROPTEST_MAX_SHRINK_ITERS", "0")
            .env("RUST_BACKTRACE", "0")
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()?;
        let output = BufReader::new(child.stdout.take().ok_or("piped")?);
        let (sender, failures) = mpsc::channel();
        thread::spawn(move || {
            output
                .lines()
                .map_while(Result::ok)
                .filter(|line| line.ends_with("FAILED"))
                .try_for_each(|line| sender.send(line))
        });
        let count = if tests.is_empty() {
            self.tests.len()
        } else {
            tests.len()
        };
        let limit = Duration::from_secs(10) + self.time_per_test * u32::try_from(count)?;
        // The first failure, the end of the output, or the time limit.
        let failure = failures.recv_timeout(limit);
        if !matches!(failure, Err(mpsc::RecvTimeoutError::Disconnected)) {
            child.kill()?;
        }
        Ok(child.wait()?.success())
    }

    /// Returns true if these tests pass with this mutation.
    pub(crate) fn passes(&self, tests: &BTreeSet<String>, number: usize) -> bool {
        let variable = ("MUTATION", &*number.to_string());
        let is_named = |test: &&String| self.tests.contains(*test);
        let (named, others): (Vec<_>, Vec<_>) = tests.iter().partition(is_named);
        let passes = |tests: &[&String]| self.run(tests, variable).expect("the tests start");
        (named.is_empty() || passes(&named)) && (others.is_empty() || passes(&[]))
    }
}

/// Runs all tests without a mutation, and returns which mutations they reach.
pub(crate) fn reached(binaries: &mut [Binary], record: &Path) -> Result<Reached, Box<dyn Error>> {
    let mut reached = Reached::new();
    for (index, binary) in binaries.iter_mut().enumerate() {
        let _ = fs::remove_file(record);
        let start = Instant::now();
        let path = record.to_str().ok_or("a path in UTF-8")?;
        if !binary.run(&[], ("MUTATIONS_REACHED", path))? {
            return Err(format!("{} fails without a mutation", binary.path.display()).into());
        }
        binary.time_per_test = start.elapsed() / u32::try_from(binary.tests.len().max(1))?;
        println!("{:?} for {}", start.elapsed(), binary.path.display());
        for line in fs::read_to_string(record).unwrap_or_default().lines() {
            let (number, test) = line.split_once(' ').ok_or("a space")?;
            let binaries = reached.entry(number.parse()?).or_default();
            let tests = binaries.entry(index).or_default();
            tests.insert(test.to_owned());
        }
    }
    Ok(reached)
}
