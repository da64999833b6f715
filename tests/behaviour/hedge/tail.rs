//! The effect of hedging on the slowest calls, and on a server that is slow overall.

use retry_protections::Latency;
use support::prelude::*;

use crate::hedge::{millis, since};

/// Responds after 50 to 150 ms, sometimes a second later.
struct Server {
    /// The percentage of slow requests.
    slow: u64,
    requests: Cell<u64>,
}

impl Server {
    async fn ask(&self) -> Result<(), Failure> {
        let number = self.requests.get();
        self.requests.set(number + 1);
        let is_slow = random(2 * number) % 100 < self.slow;
        let took = 50 + random(2 * number + 1) % 100;
        sleep(millis(if is_slow { 1_000 + took } else { took })).await;
        Ok(())
    }
}

/// `SplitMix64` by Steele, Lea and Flood, Fast splittable pseudorandom number generators (2014).
fn random(number: u64) -> u64 {
    let mut z = number.wrapping_mul(0x9E37_79B9_7F4A_7C15);
    z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    z ^ (z >> 31)
}

/// The 99th percentile in milliseconds, and the requests that a thousand calls make.
async fn tail(slow: u64, call: impl AsyncFn(&Server) -> Result<(), Failure>) -> (u64, u64) {
    const CALLS: usize = 2_000;
    let server = Server {
        slow,
        requests: Cell::new(0),
    };
    let mut took = Vec::new();
    for _ in 0..CALLS {
        let origin = Instant::now();
        assert_eq!(call(&server).await, Ok(()));
        took.push(since(origin));
    }
    took.sort_unstable();
    (
        took[CALLS / 100 * 99],
        server.requests.get() * 1_000 / CALLS as u64,
    )
}

#[retry(hedge = "150ms", max = 1)]
async fn hedged(server: &Server) -> Result<(), Failure> {
    server.ask().await
}

#[retry(hedge = "150ms", max = 1, budget = budget)]
async fn paid(server: &Server, budget: &Budget) -> Result<(), Failure> {
    server.ask().await
}

#[retry(hedge = latency.quantile(0.9), max = 1)]
async fn measured(server: &Server, latency: &Latency) -> Result<(), Failure> {
    server.ask().await
}

#[tokio::test(start_paused = true)]
async fn a_few_more_requests_cut_off_the_tail() {
    let (p99, requests) = tail(5, Server::ask).await;
    assert!(p99 > 1_080 && requests == 1_000, "{p99} {requests}");
    let (p99, requests) = tail(5, hedged).await;
    assert!(p99 < 300 && requests < 1_060, "{p99} {requests}");
    let latency = Latency::new();
    let (p99, requests) = tail(5, async |server| measured(server, &latency).await).await;
    assert!(p99 < 300 && requests < 1_120, "{p99} {requests}");
}

#[tokio::test(start_paused = true)]
async fn a_server_that_is_slow_altogether_gets_twice_the_requests_without_a_budget() {
    let (_, requests) = tail(100, hedged).await;
    assert_eq!(requests, 2_000);
    for budget in [Budget::ratio(0.05), Budget::standard()] {
        let (_, requests) = tail(100, async |server| paid(server, &budget).await).await;
        assert!(requests <= 1_120, "{requests}");
    }
    // A quantile follows: what is slow for all is not slow.
    let latency = Latency::new();
    let (_, requests) = tail(100, async |server| measured(server, &latency).await).await;
    assert!(requests < 1_150, "{requests}");
}
