//! The cost of a call, compared with a hand-written loop and other crates: `cargo bench -p benches --bench
//! instructions`.
//!
//! Instructions are counted by valgrind's callgrind. Each case runs alone, once with N calls and once with twice as
//! many; the difference divided by N is the cost of one call, without the program's startup. Allocations are counted
//! the same way, without valgrind. If a bound that the project promises is exceeded, the program ends with exit code 1.
//! For details, see `docs/performance.md`.

use std::env;
use std::process::ExitCode;

use callgrind::{Counts, Failure};
use cases::sizes::{BODIES, Sizes};
use cases::{Case, Group, Way};

mod callgrind;
mod cases;

/// The maximum number of additional instructions of `#[retry]`, compared with a loop with the body in a block.
const ABOVE_BLOCK: f64 = 3.0;

/// The maximum number of additional instructions of `#[retry]`, compared with a loop without the block.
const ABOVE_LOOP: f64 = 12.0;

/// The other crates that may cost less. With a large value, the cost depends on the number of its copies.
const AHEAD: [(Group, Way); 2] = [
    (Group::Large, Way::BackonMacros),
    (Group::Large, Way::Tryhard),
];

/// The maximum additional cost of `retrying!`, compared with the attribute: this number of instructions, or this
/// fraction, because copying 1 KiB takes a few more or fewer instructions if the project's path changes.
const EXPRESSION: (f64, f64) = (1.0, 0.01);

/// The maximum ratio of the cost of `policy.call` to the attribute with `policy = &POLICY`, and the maximum size of its
/// future in bytes.
const CHAIN: (f64, usize) = (2.25, 320);

/// The maximum number of instructions that a key may add to `#[retry]` if a call that succeeds at once doesn't use it.
const KEY: f64 = 160.0;

/// Like [`KEY`], for a full budget, which is only read: two steps of the driver.
const BUDGET: f64 = 340.0;

/// Like [`KEY`], for a breaker and limiters that admit the attempt at once: two steps of the driver, a lock taken
/// twice, a count of attempts, and for a breaker or a rate one read of the clock.
const PROTECTIONS: [(&str, f64); 3] = [
    ("breaker", 1_095.0),
    ("limiter, of concurrency", 620.0),
    ("limiter, of the rate", 870.0),
];

/// Like [`KEY`], for a hedge that is not needed: a concurrent sleep, and the attempt's number.
const HEDGE: f64 = 230.0;

/// The maximum number of additional instructions of a deadline, compared with a hand-written loop with a deadline,
/// which only stores its start.
const DEADLINE: f64 = 165.0;

/// The keys that a successful call uses: for a clock, a race, or a user's function. A policy that a failure chooses may
/// have a deadline, which starts with the call.
const USED: [&str; 12] = [
    "policy = |error| …",
    "budget",
    "budget, a ratio",
    "deadline",
    "timeout",
    "attempt, its elapsed time",
    "observe",
    "validate",
    "breaker",
    "limiter, of concurrency",
    "limiter, of the rate",
    "hedge",
];

/// The number of calls. It has as many digits as its double, so that the arguments of both runs have the same length.
const CALLS: u32 = 2_000;

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
    // `cargo bench` passes this flag; `cargo test --all-targets` only checks that the cases run.
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

/// The cost of one call of a case.
struct Cost {
    group: Group,
    way: Way,
    instructions: Counts,
    allocations: f64,
    future: Option<usize>,
}

fn measure(cases: &[Case]) -> Result<Vec<Cost>, Failure> {
    cases
        .iter()
        .enumerate()
        .map(|(index, case)| {
            Ok(Cost {
                group: case.group,
                way: case.way,
                instructions: instructions(index)?,
                allocations: allocations(case),
                future: case.future,
            })
        })
        .collect()
}

/// Returns the instructions of one call, without those that don't depend on the number of calls.
fn instructions(case: usize) -> Result<Counts, Failure> {
    let run = |calls: u32| callgrind::run(&["--case", &case.to_string(), &calls.to_string()]);
    Ok(run(2 * CALLS)?.per_call(run(CALLS)?, CALLS.into()))
}

#[expect(clippy::cast_precision_loss, reason = "counts are far below 2^52")]
fn allocations(case: &Case) -> f64 {
    let run = |calls: u32| {
        let measured = allocation_counter::measure(|| (case.run)(calls.into()));
        measured.count_total as f64
    };
    (run(2 * CALLS) - run(CALLS)) / f64::from(CALLS)
}

fn report(costs: &[Cost]) -> ExitCode {
    let mut broken = Vec::new();
    for group in Group::ALL {
        let costs: Vec<_> = costs.iter().filter(|cost| cost.group == group).collect();
        print_costs(group, &costs);
        check_costs(&costs, &mut broken);
    }
    check_expression(costs, &mut broken);
    check_chain(costs, &mut broken);
    let sizes = cases::sizes::all();
    print_sizes(&sizes);
    check_sizes(&sizes, &mut broken);
    if broken.is_empty() {
        println!("every bound holds");
        return ExitCode::SUCCESS;
    }
    for bound in broken {
        println!("broken: {bound}");
    }
    ExitCode::FAILURE
}

/// Prints a Markdown table for `docs/performance.md`.
fn print_costs(group: Group, costs: &[&Cost]) {
    let by_hand = find(costs, Way::ByHandInBlock).instructions.all;
    println!("### {}\n", group.title());
    println!(
        "| way | instructions | over the loop | ratio | clock | random | atomics | allocations | future, bytes |"
    );
    println!("|---|--:|--:|--:|--:|--:|--:|--:|--:|");
    for cost in costs {
        let future = cost
            .future
            .map_or(String::from("–"), |size| size.to_string());
        println!(
            "| {} | {} | {:+} | {:.2} | {} | {} | {} | {} | {future} |",
            cost.way.title(),
            rounded(cost.instructions.all),
            rounded(cost.instructions.all - by_hand),
            cost.instructions.all / by_hand,
            rounded(cost.instructions.clock),
            rounded(cost.instructions.random),
            rounded(cost.instructions.atomics),
            rounded(cost.allocations),
        );
    }
    println!();
}

fn print_sizes(sizes: &[Sizes]) {
    println!("### The future of a call whose body keeps a buffer, bytes\n");
    println!("| way | 64 B | 1 KiB | 16 KiB |\n|---|--:|--:|--:|");
    for Sizes { way, futures } in sizes {
        let [small, medium, large] = futures;
        println!("| {} | {small} | {medium} | {large} |", way.title());
    }
    println!();
}

/// Rounds to a tenth, and avoids a negative zero.
fn rounded(number: f64) -> f64 {
    (number * 10.0).round() / 10.0 + 0.0
}

fn find<'a>(costs: &[&'a Cost], way: Way) -> &'a Cost {
    costs
        .iter()
        .find(|cost| cost.way == way)
        .expect("each group has loops by hand and a function under the attribute")
}

fn check_costs(costs: &[&Cost], broken: &mut Vec<String>) {
    let retry = find(costs, Way::Retry);
    let instructions = retry.instructions;
    let mut bound = |holds: bool, what: String| {
        if !holds {
            broken.push(format!("{}: {what}", retry.group.title()));
        }
    };
    let mut at_most = |way: Way, more: f64| {
        let by_hand = find(costs, way).instructions.all;
        bound(
            instructions.all <= by_hand + more,
            format!("{instructions}, {} {by_hand:.1}", way.title()),
        );
    };
    match retry.group {
        // After a failure, the pause is so long that the cost of the decision doesn't matter.
        Group::Failure | Group::Delayed => {
            // A sleep reads the clock and uses atomics, and jitter draws a random number. If these counts were zero,
            // the zeros of the other groups would prove nothing.
            let Counts {
                clock,
                random,
                atomics,
                ..
            } = instructions;
            let is_drawn = random > 0.0 || retry.group == Group::Failure;
            bound(
                clock > 0.0 && atomics > 0.0 && is_drawn,
                format!(
                    "a clock, random numbers or atomics are not seen ({instructions}): were line tables left out of the build?"
                ),
            );
            return;
        }
        Group::Keys => return check_keys(costs, instructions.all, broken),
        Group::Async | Group::Large | Group::Blocking | Group::Boxed => {}
    }
    let above_block = match retry.group {
        Group::Boxed => ABOVE_LOOP,
        _ => ABOVE_BLOCK,
    };
    at_most(Way::ByHandInBlock, above_block);
    if costs.iter().any(|cost| cost.way == Way::ByHand) {
        at_most(Way::ByHand, ABOVE_LOOP);
    }
    bound(
        instructions.clock + instructions.random + instructions.atomics == 0.0,
        instructions.to_string(),
    );
    let peers = costs
        .iter()
        .filter(|cost| cost.way.is_peer() && !AHEAD.contains(&(cost.group, cost.way)));
    for peer in peers {
        bound(
            instructions.all < peer.instructions.all,
            format!(
                "{instructions}, {} {:.1}",
                peer.way.title(),
                peer.instructions.all
            ),
        );
    }
    let by_hand = find(costs, Way::ByHandInBlock);
    bound(
        retry.allocations <= by_hand.allocations,
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

/// Checks that a key that a call doesn't use costs only a branch: no clock, random number or allocation.
fn check_keys(costs: &[&Cost], without: f64, broken: &mut Vec<String>) {
    for cost in costs {
        let Way::Key(key) = cost.way else {
            continue;
        };
        if USED.contains(&key) {
            continue;
        }
        let Counts {
            all,
            clock,
            random,
            atomics,
        } = cost.instructions;
        // A relaxed atomic read costs as much as any read.
        let is_free = clock + random + cost.allocations == 0.0 && atomics <= 1.0;
        if all > without + KEY || !is_free {
            broken.push(format!(
                "{key}: {}, without it {without:.1}, {} allocations",
                cost.instructions,
                rounded(cost.allocations)
            ));
        }
    }
    for budget in ["budget", "budget, a ratio"] {
        let cost = find(costs, Way::Key(budget)).instructions.all;
        if cost > without + BUDGET {
            broken.push(format!("{budget}: {cost:.1}, without it {without:.1}"));
        }
    }
    for (protection, most) in PROTECTIONS {
        let cost = find(costs, Way::Key(protection));
        let (all, random) = (cost.instructions.all, cost.instructions.random);
        if all > without + most || random + rounded(cost.allocations) > 0.0 {
            broken.push(format!(
                "{protection}: {}, without it {without:.1}, {} allocations",
                cost.instructions,
                rounded(cost.allocations)
            ));
        }
    }
    let hedge = find(costs, Way::Key("hedge")).instructions.all;
    if hedge > without + HEDGE {
        broken.push(format!("hedge: {hedge:.1}, without it {without:.1}"));
    }
    let deadline = find(costs, Way::Key("deadline")).instructions.all;
    for (other, more) in [(Way::ByHandDeadline, DEADLINE), (Way::BackonDeadline, 0.0)] {
        let other = find(costs, other);
        if deadline > other.instructions.all + more {
            broken.push(format!(
                "deadline: {deadline:.1}, {} {:.1}",
                other.way.title(),
                other.instructions.all
            ));
        }
    }
}

/// Compares `retrying!` with the attribute, which has the same loop.
fn check_expression(costs: &[Cost], broken: &mut Vec<String>) {
    for expression in costs.iter().filter(|cost| cost.way == Way::Expression) {
        let group: Vec<_> = costs
            .iter()
            .filter(|cost| cost.group == expression.group)
            .collect();
        let attribute = find(&group, Way::Retry);
        let (all, of_attribute) = (expression.instructions.all, attribute.instructions.all);
        let (most, part) = EXPRESSION;
        let is_dear = all > of_attribute + most.max(part * of_attribute);
        if is_dear || expression.future > attribute.future {
            broken.push(format!(
                "{}: retrying! {all:.1} and {:?} bytes, #[retry] {of_attribute:.1} and {:?} bytes",
                expression.group.title(),
                expression.future,
                attribute.future,
            ));
        }
    }
}

/// Compares `policy.call` with the attribute.
fn check_chain(costs: &[Cost], broken: &mut Vec<String>) {
    let of = |group, way| {
        let mut costs = costs.iter();
        costs.find(|cost| cost.group == group && cost.way == way)
    };
    let (Some(chain), Some(attribute)) = (
        of(Group::Async, Way::Chain),
        of(Group::Keys, Way::Key("policy = &POLICY")),
    ) else {
        return broken.push(String::from("policy.call: not measured"));
    };
    let (most, future) = CHAIN;
    let (chained, attribute) = (chain.instructions.all, attribute.instructions.all);
    if chained > most * attribute {
        broken.push(format!(
            "policy.call: {chained:.1}, #[retry(policy = …)] {attribute:.1}"
        ));
    }
    if chain.future.is_none_or(|size| size > future) {
        broken.push(format!("policy.call: a future of {:?} bytes", chain.future));
    }
}

/// Checks that a body's variables are stored once, in a future that isn't larger than in a hand-written loop.
fn check_sizes(sizes: &[Sizes], broken: &mut Vec<String>) {
    let of = |way| {
        sizes
            .iter()
            .find(|sizes| sizes.way == way)
            .map_or([0; 3], |sizes| sizes.futures)
    };
    let retry = of(Way::Retry);
    for ((retry, by_hand), body) in retry.iter().zip(of(Way::ByHandInBlock)).zip(BODIES) {
        if *retry > by_hand || *retry >= 2 * body + 256 {
            broken.push(format!(
                "a body of {body} bytes: a future of {retry}, by hand {by_hand}"
            ));
        }
    }
}
