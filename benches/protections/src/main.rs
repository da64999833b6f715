//! What a closed breaker costs a call that succeeds, in nanoseconds, beside other crates:
//! `cargo run --release --manifest-path benches/breakers/Cargo.toml`.
//!
//! All threads share one breaker. What counts is the processor's time, since a machine has
//! other things to do, and the median of the rounds.

use std::hint::{black_box, spin_loop};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use std::thread;
use std::time::Duration;

use cpu_time::ThreadTime;
use failsafe::CircuitBreaker as _;
use recloser::Recloser;
use retry_runtime::{Breaker, Permit, retry};
use tokio::runtime;
use tower::{Service, ServiceExt, service_fn};
use tower_resilience::circuitbreaker::CircuitBreakerLayer;

/// Short enough for few of the threads to be interrupted.
const ROUND: Duration = Duration::from_millis(1);
const ROUNDS: usize = 100;

static BREAKER: Breaker = Breaker::new();

fn body(value: u64) -> Result<u64, std::io::Error> {
    Ok(black_box(value))
}

#[retry]
fn without(value: u64) -> Result<u64, std::io::Error> {
    body(value)
}

#[retry(breaker = &BREAKER)]
fn with(value: u64) -> Result<u64, std::io::Error> {
    body(value)
}

#[retry]
async fn waits_without(value: u64) -> Result<u64, std::io::Error> {
    body(value)
}

#[retry(breaker = &BREAKER)]
async fn waits_with(value: u64) -> Result<u64, std::io::Error> {
    body(value)
}

/// Nanoseconds a call, of each of so many threads that call at the same time.
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
        // Awake, so that all begin at the same time.
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

/// Calls without a wait.
fn blocking<T>(number: u64, call: impl Fn(u64) -> T) {
    for value in 0..number {
        black_box(call(black_box(value)));
    }
}

fn waiting(calls: impl Future) {
    let runtime = runtime::Builder::new_current_thread().build().unwrap();
    runtime.block_on(calls);
}

fn main() {
    let failsafe = failsafe::Config::new().build();
    let recloser = Recloser::default();
    let layer = CircuitBreakerLayer::builder().build().unwrap();
    let service = layer.layer_fn(service_fn(async |value: u64| body(value)));
    let service = Arc::new(std::sync::Mutex::new(service));
    let ways: [(&str, &(dyn Fn(u64) + Sync)); 9] = [
        ("the body alone", &|number| blocking(number, body)),
        ("`#[retry]`", &|number| blocking(number, without)),
        ("`#[retry(breaker)]`", &|number| blocking(number, with)),
        ("`Permit`", &|number| {
            blocking(number, |value| {
                let mut permit = Permit::new(&BREAKER).unwrap();
                let answer = body(value);
                permit.succeeded();
                answer
            });
        }),
        ("recloser 1.4", &|number| {
            blocking(number, |value| recloser.call(|| body(value)))
        }),
        ("failsafe 1.3", &|number| {
            blocking(number, |value| failsafe.call(|| body(value)))
        }),
        ("async, `#[retry]`", &|number| {
            waiting(async {
                for value in 0..number {
                    black_box(waits_without(black_box(value)).await.unwrap());
                }
            });
        }),
        ("async, `#[retry(breaker)]`", &|number| {
            waiting(async {
                for value in 0..number {
                    black_box(waits_with(black_box(value)).await.unwrap());
                }
            });
        }),
        ("async, tower-resilience 0.13", &|number| {
            let mut service = service.lock().unwrap().clone();
            waiting(async {
                for value in 0..number {
                    let ready = service.ready().await.unwrap();
                    black_box(ready.call(black_box(value)).await.unwrap());
                }
            });
        }),
    ];
    println!("| way | 1 thread, ns | 2 threads, ns |");
    println!("|---|--:|--:|");
    for (name, calls) in ways {
        let (one, two) = (measure(1, calls), measure(2, calls));
        println!("| {name} | {one:.1} | {two:.1} |");
    }
}
