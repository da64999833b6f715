//! The cost of many calls that sleep between two attempts at the same time: `cargo bench -p benches --bench asleep`.
//!
//! Simulates an outage: 100,000 calls, then 1,000,000, fail and sleep. Then the service recovers, and all succeed. Each
//! call is a tokio task. For each way, runtime and number of calls, this program starts itself again as a separate
//! process. That process reads the resident memory from `/proc/self` while the calls sleep, and the CPU time before and
//! after the sleep. The lowest of three rounds counts. Takes 15 minutes.

use std::env;
use std::fs;
use std::process::{Command, ExitCode};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

use backon::{ConstantBuilder, Retryable};
use retry_runtime::{Classify, Jitter, Policy, Verdict, retry};
use tokio::runtime::{Builder, Runtime};
use tokio::time::Sleep;
use tokio_retry::RetryIf;
use tokio_retry::strategy::FixedInterval;
use tower::{ServiceExt, service_fn};
use tryhard::RetryPolicy;

const NUMBERS: [u64; 2] = [100_000, 1_000_000];
const RUNTIMES: [&str; 2] = ["current-thread", "2 workers"];
const ROUNDS: usize = 3;
const MAX: u32 = 5;

type Way = (&'static str, fn(&Runtime, &'static Service, u64));

macro_rules! ways {
    ($($title:literal => $method:ident,)*) => {
        [$(($title, |runtime, service, calls| {
            for _ in 0..calls {
                runtime.spawn(service.$method());
            }
        })),*]
    };
}

const RETRY: &str = "#[retry]";
const WAYS: [Way; 7] = ways! {
    "by hand" => by_hand,
    "#[retry]" => retried,
    "policy.call" => chained,
    "backon 1.6" => backon,
    "tokio-retry 0.3" => tokio_retry,
    "tryhard 0.5" => tryhard,
    "tower 0.5" => tower,
};

/// A service that fails until it has recovered.
#[derive(Default)]
struct Service {
    back: AtomicBool,
    failures: AtomicU64,
    successes: AtomicU64,
}

#[derive(Debug)]
enum Failure {
    Overloaded,
    #[expect(dead_code, reason = "an error with a destructor, like real errors")]
    Refused(String),
}

impl Failure {
    fn is_transient(&self) -> bool {
        matches!(self, Self::Overloaded)
    }
}

impl Classify for Failure {
    fn classify(&self) -> Verdict {
        self.is_transient().into()
    }
}

impl std::fmt::Display for Failure {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("overloaded")
    }
}

/// The pause of every way: long enough for all calls to fall asleep before the first one wakes up.
static PAUSE: OnceLock<Duration> = OnceLock::new();

fn pause() -> Duration {
    PAUSE.get().copied().unwrap_or_default()
}

/// Stands in for a field of a client, which outlives its calls.
static POLICY: OnceLock<Policy> = OnceLock::new();

fn policy() -> &'static Policy {
    POLICY.get_or_init(|| {
        let policy = Policy::fixed(pause()).cap(pause());
        policy.max(MAX).jitter(Jitter::None)
    })
}

#[derive(Clone)]
struct TowerPolicy {
    retries: u32,
}

impl<Request: Copy, Value> tower::retry::Policy<Request, Value, Failure> for TowerPolicy {
    type Future = Sleep;

    fn retry(&mut self, _: &mut Request, outcome: &mut Result<Value, Failure>) -> Option<Sleep> {
        match outcome {
            Err(error) if self.retries < MAX && error.is_transient() => {
                self.retries += 1;
                Some(tokio::time::sleep(pause()))
            }
            _ => None,
        }
    }

    fn clone_request(&mut self, request: &Request) -> Option<Request> {
        Some(*request)
    }
}

impl Service {
    /// Sends a request. Awaits a future, like a real client.
    async fn send(&self) -> Result<u64, Failure> {
        std::future::ready(()).await;
        if self.back.load(Ordering::Relaxed) {
            return Ok(self.successes.fetch_add(1, Ordering::Relaxed));
        }
        self.failures.fetch_add(1, Ordering::Relaxed);
        Err(Failure::Overloaded)
    }

    async fn by_hand(&self) -> Result<u64, Failure> {
        let mut retries = 0;
        loop {
            match self.send().await {
                Ok(value) => return Ok(value),
                Err(error) if retries < MAX && error.is_transient() => {}
                Err(error) => return Err(error),
            }
            retries += 1;
            tokio::time::sleep(pause()).await;
        }
    }

    #[retry(max = 5, backoff = "fixed", base = pause(), jitter = "none", on = Failure::is_transient)]
    async fn retried(&self) -> Result<u64, Failure> {
        self.send().await
    }

    async fn chained(&self) -> Result<u64, Failure> {
        policy().call(|| self.send()).await
    }

    async fn backon(&self) -> Result<u64, Failure> {
        (|| self.send())
            .retry(
                ConstantBuilder::new()
                    .with_delay(pause())
                    .with_max_times(MAX as usize),
            )
            .when(Failure::is_transient)
            .await
    }

    async fn tokio_retry(&self) -> Result<u64, Failure> {
        RetryIf::start(
            FixedInterval::new(pause()).take(MAX as usize),
            || self.send(),
            Failure::is_transient,
        )
        .await
    }

    async fn tryhard(&self) -> Result<u64, Failure> {
        let policy = |_, error: &Failure| {
            if error.is_transient() {
                RetryPolicy::Delay(pause())
            } else {
                RetryPolicy::Break
            }
        };
        tryhard::retry_fn(|| self.send())
            .retries(MAX)
            .custom_backoff(policy)
            .await
    }

    async fn tower(&self) -> Result<u64, Failure> {
        let service = service_fn(|()| self.send());
        tower::retry::Retry::new(TowerPolicy { retries: 0 }, service)
            .oneshot(())
            .await
    }
}

fn main() -> ExitCode {
    let arguments: Vec<String> = env::args().skip(1).collect();
    if let [flag, way, runtime, calls] = arguments.as_slice()
        && flag == "--case"
        && let (Ok(way), Ok(runtime), Ok(calls)) = (way.parse(), runtime.parse(), calls.parse())
    {
        return run(way, runtime, calls);
    }
    // `cargo bench` passes this flag; `cargo test --all-targets` only checks that the cases run.
    if !arguments.iter().any(|argument| argument == "--bench") {
        return (0..WAYS.len())
            .map(|way| run(way, 0, 100))
            .fold(ExitCode::SUCCESS, |all, one| {
                if all == ExitCode::SUCCESS { one } else { all }
            });
    }
    compare()
}

/// Prints bytes and microseconds per call.
fn run(way: usize, runtime: usize, calls: u64) -> ExitCode {
    let runtime = match runtime {
        0 => Builder::new_current_thread().enable_time().build(),
        _ => Builder::new_multi_thread()
            .worker_threads(2)
            .enable_time()
            .build(),
    }
    .expect("a runtime without I/O needs nothing but threads");
    let pause = Duration::from_secs(1).max(Duration::from_micros(calls * 12));
    PAUSE.get_or_init(|| pause);
    let service: &Service = Box::leak(Box::default());
    let (memory, time) = (resident_bytes(), processor_seconds());

    (WAYS[way].1)(&runtime, service, calls);
    runtime.block_on(reached(&service.failures, calls));
    let (asleep, started) = (resident_bytes(), processor_seconds());
    service.back.store(true, Ordering::Relaxed);
    if service.failures.load(Ordering::Relaxed) != calls {
        eprintln!("the first call woke before the last was asleep");
        return ExitCode::FAILURE;
    }
    runtime.block_on(reached(&service.successes, calls));
    let finished = processor_seconds();

    #[expect(clippy::cast_precision_loss, reason = "numbers are far below 2^52")]
    let per_call = |amount: f64| amount / calls as f64;
    println!(
        "{} {} {}",
        per_call(asleep - memory),
        per_call((started - time) * 1e6),
        per_call((finished - started) * 1e6)
    );
    ExitCode::SUCCESS
}

async fn reached(counter: &AtomicU64, number: u64) {
    while counter.load(Ordering::Relaxed) < number {
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}

fn resident_bytes() -> f64 {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let kilobytes = status.lines().find_map(|line| {
        let number = line.strip_prefix("VmRSS:")?.trim().strip_suffix(" kB")?;
        number.parse::<f64>().ok()
    });
    kilobytes.expect("Linux tells a process's memory") * 1024.0
}

/// Returns the user and system time of all threads.
fn processor_seconds() -> f64 {
    // See proc_pid_stat(5): fields 14 and 15, in clock ticks of 10 ms; the second may contain spaces.
    let stat = fs::read_to_string("/proc/self/stat").unwrap_or_default();
    let after_name = stat.rsplit(')').next().unwrap_or_default();
    let ticks = after_name.split_whitespace().skip(11).take(2);
    ticks
        .map(|ticks| ticks.parse::<f64>().expect("Linux tells a process's time"))
        .sum::<f64>()
        / 100.0
}

/// The cost of one call: bytes, and microseconds to fall asleep and to finish.
type Cost = [f64; 3];

fn measure(way: usize, runtime: usize, calls: u64) -> Option<Cost> {
    let output = Command::new(env::current_exe().ok()?)
        .args(["--case", &way.to_string(), &runtime.to_string()])
        .arg(calls.to_string())
        .output()
        .ok()?;
    eprint!("{}", String::from_utf8_lossy(&output.stderr));
    let text = String::from_utf8(output.stdout).ok()?;
    let numbers: Vec<f64> = text
        .split_whitespace()
        .filter_map(|word| word.parse().ok())
        .collect();
    numbers.try_into().ok()
}

fn compare() -> ExitCode {
    let mut broken = Vec::new();
    for (runtime, title) in RUNTIMES.iter().enumerate() {
        let costs = NUMBERS.map(|calls| {
            // Each round measures every way, so that other load on the machine affects all of them.
            let mut least = [[f64::INFINITY; 3]; WAYS.len()];
            for _ in 0..ROUNDS {
                for (way, least) in least.iter_mut().enumerate() {
                    let cost = measure(way, runtime, calls).unwrap_or([f64::INFINITY; 3]);
                    for (least, cost) in least.iter_mut().zip(cost) {
                        *least = least.min(cost);
                    }
                }
            }
            print_table(title, calls, &least);
            least
        });
        check(title, &costs, &mut broken);
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

/// Prints a Markdown table for `docs/performance.md`.
fn print_table(runtime: &str, calls: u64, costs: &[Cost]) {
    println!("### {calls} calls asleep, {runtime}\n");
    println!("| way | bytes per call | ratio | µs to fall asleep | ratio | µs to finish | ratio |");
    println!("|---|--:|--:|--:|--:|--:|--:|");
    let by_hand = costs[0];
    for ((title, _), cost) in WAYS.iter().zip(costs) {
        print!("| {title} |");
        for (part, (cost, by_hand)) in cost.iter().zip(by_hand).enumerate() {
            let digits = if part == 0 { 0 } else { 2 };
            print!(" {cost:.digits$} | {:.2} |", cost / by_hand);
        }
        println!();
    }
    println!();
}

/// Checks only the memory, because times depend on other load on the machine.
fn check(runtime: &str, costs: &[[Cost; WAYS.len()]; 2], broken: &mut Vec<String>) {
    let [fewer, more] = costs.each_ref().map(|costs| {
        let bytes = |title| {
            let way = WAYS.iter().position(|(known, _)| *known == title);
            way.map_or(f64::NAN, |way| costs[way][0])
        };
        [RETRY, "backon 1.6", "tokio-retry 0.3"].map(bytes)
    });
    let [retry, backon, tokio_retry] = more;
    if retry >= backon || retry >= tokio_retry {
        broken.push(format!(
            "{runtime}: {retry} bytes, others {backon} and {tokio_retry}"
        ));
    }
    if retry >= fewer[0] * 1.15 {
        broken.push(format!(
            "{runtime}: {retry} bytes per call, {} where there are fewer",
            fewer[0]
        ));
    }
}
