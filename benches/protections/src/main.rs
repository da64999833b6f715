//! The cost of breakers and limiters for a call that succeeds at once, in nanoseconds, compared with other crates:
//! `cargo run --release --manifest-path benches/protections/Cargo.toml`.
//!
//! All threads share one breaker or limiter, which admits every call. Measures CPU time, because the machine has other
//! load, and takes the median of the rounds.

mod breakers;
mod limiters;

use std::hint::{black_box, spin_loop};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use std::thread;
use std::time::Duration;

use cpu_time::ThreadTime;
use retry_runtime::retry;
use tokio::runtime;
use tower::{Service, ServiceExt};

/// The length of a round: short enough that threads are rarely interrupted.
const ROUND: Duration = Duration::from_millis(1);
const ROUNDS: usize = 100;

/// A function that makes a number of calls. Threads run it at the same time.
type Calls = Box<dyn Fn(u64) + Sync>;

fn body(value: u64) -> Result<u64, std::io::Error> {
    Ok(black_box(value))
}

#[retry]
fn without(value: u64) -> Result<u64, std::io::Error> {
    body(value)
}

#[retry]
async fn waits_without(value: u64) -> Result<u64, std::io::Error> {
    body(value)
}

/// Returns the ways without a breaker or limiter.
fn bare() -> [(&'static str, Calls); 3] {
    [
        ("the body alone", blocking(body)),
        ("`#[retry]`", blocking(without)),
        ("async, `#[retry]`", waiting(waits_without)),
    ]
}

/// Wraps a blocking call.
fn blocking<T>(call: impl Fn(u64) -> T + Sync + 'static) -> Calls {
    Box::new(move |number| {
        for value in 0..number {
            black_box(call(black_box(value)));
        }
    })
}

/// Wraps a call of an async function.
fn waiting<F: Future<Output: Sized>>(call: impl Fn(u64) -> F + Sync + 'static) -> Calls {
    Box::new(move |number| {
        wait(async {
            for value in 0..number {
                black_box(call(black_box(value)).await);
            }
        });
    })
}

/// Wraps a service. Each thread calls its own clone.
fn service<S>(service: S) -> Calls
where
    S: Service<u64, Error: std::fmt::Debug> + Clone + Send + 'static,
{
    let service = Mutex::new(service);
    Box::new(move |number| {
        serve(|| service.lock().unwrap().clone(), number);
    })
}

/// Calls a new service.
fn serve<S: Service<u64, Error: std::fmt::Debug>>(make: impl FnOnce() -> S, number: u64) {
    wait(async {
        let mut service = make();
        for value in 0..number {
            let ready = service.ready().await.unwrap();
            black_box(ready.call(black_box(value)).await.unwrap());
        }
    });
}

fn wait(calls: impl Future) {
    let mut builder = runtime::Builder::new_current_thread();
    builder.enable_time().build().unwrap().block_on(calls);
}

/// Returns the nanoseconds per call in each of `threads` threads that call at the same time.
fn measure(threads: usize, calls: &(dyn Fn(u64) + Sync)) -> f64 {
    let timed = |number: u64| {
        let start = ThreadTime::now();
        calls(number);
        start.elapsed().as_secs_f64() * 1e9 / number as f64
    };
    let tried = (0..10).map(|_| timed(1_000));
    let number = ROUND.as_secs_f64() * 1e9 / tried.fold(f64::INFINITY, f64::min);
    let ready = AtomicUsize::new(0);
    let timed = || {
        // Spin, so that all threads start at the same time.
        ready.fetch_add(1, SeqCst);
        while ready.load(SeqCst) % threads != 0 {
            spin_loop();
        }
        timed(number as u64)
    };
    let round = |_| {
        thread::scope(|scope| {
            let running: Vec<_> = (0..threads).map(|_| scope.spawn(timed)).collect();
            let times = running.into_iter().map(|thread| thread.join().unwrap());
            times.fold(0.0, f64::max)
        })
    };
    let mut rounds: Vec<f64> = (0..ROUNDS).map(round).collect();
    rounds.sort_by(f64::total_cmp);
    rounds[ROUNDS / 2]
}

fn main() {
    let tables = [
        ("neither", Vec::from(bare())),
        ("breakers", breakers::ways()),
        ("limiters", limiters::ways()),
    ];
    for (title, ways) in tables {
        println!("### {title}\n\n| way | 1 thread, ns | 2 threads, ns |\n|---|--:|--:|");
        for (name, calls) in ways {
            let (one, two) = (measure(1, &*calls), measure(2, &*calls));
            println!("| {name} | {one:.1} | {two:.1} |");
        }
        println!();
    }
}
