//! What a call costs beside the same call by hand and by other crates: `cargo bench --bench instructions`.
//!
//! Instructions are counted by valgrind's callgrind. Each case runs alone, once with N calls and once with
//! twice as many; the difference divided by N is what one call costs, without the program's start.
//! Allocations are counted the same way, without valgrind. The bounds that the project promises for a success
//! at once are checked, and a broken one ends the program with exit code 1. `docs/performance.md` says more.

use std::env;
use std::fmt;
use std::io;
use std::process::{Command, ExitCode, Stdio};

use cases::{Case, Group, Way};

mod cases;

/// How many instructions `#[retry]` may cost above the loop by hand.
const ALLOWANCE: f64 = 15.0;

/// As many digits as its double, so that both runs start with arguments of one length.
const CALLS: u64 = 2_000;

fn main() -> ExitCode {
    let arguments: Vec<String> = env::args().skip(1).collect();
    let cases = cases::all();
    if let [flag, case, calls] = arguments.as_slice()
        && flag == "--case"
        && let (Ok(case), Ok(calls)) = (case.parse::<usize>(), calls.parse())
    {
        (cases[case].run)(calls);
        return ExitCode::SUCCESS;
    }
    // `cargo bench` says so; `cargo test --all-targets` only wants to know that the cases run.
    if !arguments.iter().any(|argument| argument == "--bench") {
        for case in &cases {
            (case.run)(1);
        }
        return ExitCode::SUCCESS;
    }
    match measure(&cases) {
        Ok(costs) => report(&costs),
        Err(failure) => {
            eprintln!("{failure}");
            ExitCode::from(2)
        }
    }
}

/// What one call of a case costs.
struct Cost {
    group: Group,
    way: Way,
    instructions: f64,
    allocations: f64,
    future: Option<usize>,
}

enum Failure {
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

fn measure(cases: &[Case]) -> Result<Vec<Cost>, Failure> {
    cases
        .iter()
        .enumerate()
        .map(|(index, case)| {
            let instructions = per_call(|calls| instructions(index, calls))?;
            let allocations = per_call(|calls| Ok(allocations(case, calls)))?;
            Ok(Cost {
                group: case.group,
                way: case.way,
                instructions,
                allocations,
                future: case.future,
            })
        })
        .collect()
}

/// Leaves out what does not depend on the number of calls.
#[expect(clippy::cast_precision_loss, reason = "counts are far below 2^52")]
fn per_call(count: impl Fn(u64) -> Result<u64, Failure>) -> Result<f64, Failure> {
    let (once, twice) = (count(CALLS)?, count(2 * CALLS)?);
    Ok((twice as f64 - once as f64) / CALLS as f64)
}

fn allocations(case: &Case, calls: u64) -> u64 {
    allocation_counter::measure(|| (case.run)(calls)).count_total
}

/// Runs this program again, under valgrind.
fn instructions(case: usize, calls: u64) -> Result<u64, Failure> {
    let program = env::current_exe().map_err(|error| Failure::Valgrind(error.to_string()))?;
    let output = Command::new("valgrind")
        .args(["--tool=callgrind", "--callgrind-out-file=/dev/null"])
        .arg(program)
        .args(["--case", &case.to_string(), &calls.to_string()])
        .stdin(Stdio::null())
        .output()
        .map_err(|error| match error.kind() {
            io::ErrorKind::NotFound => Failure::NoValgrind,
            _ => Failure::Valgrind(error.to_string()),
        })?;
    if !output.status.success() {
        return Err(Failure::Valgrind(output.status.to_string()));
    }
    // `==1234== Collected : 5678`
    String::from_utf8_lossy(&output.stderr)
        .lines()
        .find_map(|line| line.split_once("Collected : ")?.1.trim().parse().ok())
        .ok_or_else(|| Failure::Valgrind(String::from("its report has no line \"Collected\"")))
}

fn report(costs: &[Cost]) -> ExitCode {
    let mut broken = Vec::new();
    for group in Group::ALL {
        let costs: Vec<_> = costs.iter().filter(|cost| cost.group == group).collect();
        print_table(group, &costs);
        // A call that failed first sleeps and logs: what that costs is shown, not promised.
        if group != Group::Failure {
            check(&costs, &mut broken);
        }
    }
    if broken.is_empty() {
        println!("every bound holds");
        return ExitCode::SUCCESS;
    }
    for bound in broken {
        println!("broken: {bound}");
    }
    ExitCode::FAILURE
}

/// In Markdown, as it stands in `docs/performance.md`.
fn print_table(group: Group, costs: &[&Cost]) {
    let by_hand = find(costs, Way::ByHand).instructions;
    println!("### {}\n", group.title());
    println!("| way | instructions | over by hand | ratio | allocations | future, bytes |");
    println!("|---|--:|--:|--:|--:|--:|");
    for cost in costs {
        let future = cost
            .future
            .map_or(String::from("–"), |size| size.to_string());
        println!(
            "| {} | {} | {:+} | {:.2} | {} | {future} |",
            cost.way.title(),
            rounded(cost.instructions),
            rounded(cost.instructions - by_hand),
            cost.instructions / by_hand,
            rounded(cost.allocations),
        );
    }
    println!();
}

/// To a tenth; whole numbers without one, and no negative zero.
fn rounded(number: f64) -> f64 {
    (number * 10.0).round() / 10.0 + 0.0
}

fn find<'a>(costs: &[&'a Cost], way: Way) -> &'a Cost {
    costs
        .iter()
        .find(|cost| cost.way == way)
        .expect("each group has a loop by hand and a function under the attribute")
}

fn check(costs: &[&Cost], broken: &mut Vec<String>) {
    let (by_hand, retry) = (find(costs, Way::ByHand), find(costs, Way::Retry));
    let (base, base_is) = match retry.group {
        // A large value is copied once more where the body has a block of its own, by hand as well.
        Group::Large => (find(costs, Way::ByHandInBlock), "by hand in a block"),
        _ => (by_hand, "by hand"),
    };
    let mut bound = |holds: bool, what: String| {
        if !holds {
            broken.push(format!("{}: {what}", retry.group.title()));
        }
    };
    bound(
        retry.instructions <= base.instructions + ALLOWANCE,
        format!(
            "{} instructions, {base_is} {}",
            rounded(retry.instructions),
            rounded(base.instructions)
        ),
    );
    // With a large value it is the copies of the value that are counted, and their number is the compiler's.
    let peers = costs
        .iter()
        .filter(|cost| cost.way.is_peer() && cost.group != Group::Large);
    for peer in peers {
        bound(
            retry.instructions < peer.instructions,
            format!(
                "{} instructions, {} {}",
                rounded(retry.instructions),
                peer.way.title(),
                rounded(peer.instructions)
            ),
        );
    }
    bound(
        retry.allocations == 0.0,
        format!("{} allocations", rounded(retry.allocations)),
    );
    bound(
        retry.future <= by_hand.future,
        format!(
            "a future of {} bytes, by hand {}",
            retry.future.unwrap_or_default(),
            by_hand.future.unwrap_or_default()
        ),
    );
}
