//! The cost of a call in cargo's default release profile (16 codegen units, no link-time optimisation): `cargo run
//! --release --manifest-path benches/release/Cargo.toml`.
//!
//! Instructions are counted as in `benches/instructions.rs`, which has one codegen unit. The body awaits a client's
//! async function, whose future is 64 B, and succeeds at once. If a bound is exceeded, the exit code is 1.

use std::env;
use std::future::Future;
use std::hint::black_box;
use std::pin::{Pin, pin};
use std::process::ExitCode;
use std::task::{Context, Poll, Waker};

use ways::Client;

#[path = "../../callgrind.rs"]
mod callgrind;
mod ways;

const CALLS: u32 = 2_000;

/// The maximum instructions of `policy.call`, and the maximum size of its future in bytes.
const CHAIN: (f64, usize) = (800.0, 416);

struct Case {
    title: &'static str,
    run: fn(u32),
    future: fn() -> usize,
}

/// Polls until ready. Never inlined, as in a runtime: the future is created in one place and polled in another.
#[inline(never)]
fn drive<F: Future>(mut future: Pin<&mut F>) -> F::Output {
    let mut context = Context::from_waker(Waker::noop());
    loop {
        if let Poll::Ready(output) = future.as_mut().poll(&mut context) {
            return output;
        }
    }
}

macro_rules! cases {
    ($($title:literal => $way:ident,)*) => {
        [$(Case {
            title: $title,
            run: |calls| {
                let client = Client::default();
                for _ in 0..calls {
                    let _ = black_box(drive(pin!(ways::$way(black_box(&client)))));
                }
            },
            future: || size_of_val(&ways::$way(&Client::default())),
        },)*]
    };
}

fn main() -> ExitCode {
    let cases = cases! {
        "by hand" => by_hand,
        "`#[retry]`" => retried,
        "`#[retry]`, `policy = &POLICY`" => with_policy,
        "`#[retry]`, `policy = &POLICY`, `attempt`" => with_attempt,
        "`#[retry]`, a policy with a deadline" => with_deadline,
        "`policy.on(f).call`" => chained,
        "`policy.on(f).call_attempt`" => chained_attempt,
        "`policy.on(f).call`, a policy with a deadline" => chained_deadline,
        "backon 1.6" => backon,
        "tokio-retry 0.3" => tokio_retry,
        "tryhard 0.5" => tryhard,
    };
    let arguments: Vec<String> = env::args().skip(1).collect();
    if let [case, calls] = arguments.as_slice()
        && let (Ok(case), Ok(calls)) = (case.parse::<usize>(), calls.parse())
    {
        (cases[case].run)(calls);
        return ExitCode::SUCCESS;
    }
    report(&cases).unwrap_or_else(|failure| {
        eprintln!("{failure}");
        ExitCode::from(2)
    })
}

fn report(cases: &[Case]) -> Result<ExitCode, callgrind::Failure> {
    println!(
        "The client's future alone: {} B\n",
        size_of_val(&Client::default().get(""))
    );
    println!("| way | instructions | future, bytes |\n|---|--:|--:|");
    let mut holds = true;
    for (index, Case { title, future, .. }) in cases.iter().enumerate() {
        let run = |calls: u32| callgrind::run(&[&index.to_string(), &calls.to_string()]);
        let counts = run(2 * CALLS)?.per_call(run(CALLS)?, CALLS.into());
        let (instructions, bytes) = (counts.all.round(), future());
        println!("| {title} | {instructions} | {bytes} |");
        holds &= *title != "`policy.on(f).call`" || (instructions <= CHAIN.0 && bytes <= CHAIN.1);
    }
    println!(
        "\n{}",
        if holds {
            "every bound holds"
        } else {
            "broken: policy.call"
        }
    );
    Ok(if holds {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    })
}
