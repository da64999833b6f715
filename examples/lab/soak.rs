//! Makes 20,000 calls over HTTP, in real time, to a server that is healthy, then fails most requests, then all, then is
//! healthy again.
//!
//! It takes ten seconds, so only `.ci/run` runs it.

use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::time::Duration;

use retry_protections::{Breaker, ConcurrencyLimiter};
use retry_runtime::seam::BreakerState::{Closed, Open};
use retry_runtime::{Budget, Classify, Rejected, TimedOut, Verdict, retry};
use support::loopback::{Server, read_head, status};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::task::JoinSet;
use tokio::time::{Instant, interval};

static BUDGET: Budget = Budget::ratio(0.1);
static BREAKER: Breaker = Breaker::new()
    .window(Duration::from_secs(1))
    .open_for(Duration::from_millis(250));
static LIMITER: ConcurrencyLimiter = ConcurrencyLimiter::aimd().max_wait(Duration::from_secs(1));

/// The percentage of requests that the server fails in each phase.
const FAILING: [usize; PHASES] = [0, 70, 100, 0, 0];
const PHASES: usize = 5;
/// The number of calls in each phase, at 2,000 a second.
const CALLS: usize = 4_000;
const CALLS_PER_TICK: usize = 10;
const TICK: Duration = Duration::from_millis(5);

#[retry(
    max = 3,
    base = "20ms",
    cap = "200ms",
    timeout = "2s",
    budget = &BUDGET,
    breaker = &BREAKER,
    limiter = &LIMITER,
)]
async fn get(server: SocketAddr, attempts: &AtomicUsize) -> Result<(), Failure> {
    attempts.fetch_add(1, Relaxed);
    let mut stream = TcpStream::connect(server).await?;
    stream
        .write_all(b"GET / HTTP/1.1\r\nhost: localhost\r\n\r\n")
        .await?;
    let mut answer = String::new();
    stream.read_to_string(&mut answer).await?;
    match answer.split(' ').nth(1) {
        Some("200") => Ok(()),
        _ => Err(Failure::Refused),
    }
}

#[derive(Debug)]
enum Failure {
    /// A response other than 200.
    Refused,
    Connection,
    Timeout,
    Rejected,
}

impl Classify for Failure {
    fn classify(&self) -> Verdict {
        match self {
            Self::Refused | Self::Connection => Verdict::TRANSIENT,
            Self::Timeout => Verdict::TIMEOUT,
            Self::Rejected => Verdict::STOP,
        }
    }
}

impl From<io::Error> for Failure {
    fn from(_: io::Error) -> Self {
        Self::Connection
    }
}

impl From<TimedOut> for Failure {
    fn from(_: TimedOut) -> Self {
        Self::Timeout
    }
}

impl From<Rejected> for Failure {
    fn from(_: Rejected) -> Self {
        Self::Rejected
    }
}

/// The outcomes of the calls that started in a phase, and the number of requests that the server received in it.
#[derive(Clone, Copy, Debug, Default)]
struct Counts {
    succeeded: usize,
    failed: usize,
    rejected: usize,
    requests: usize,
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_outage_gets_no_worse_and_passes() {
    let start = Instant::now();
    let phase: Arc<AtomicUsize> = Arc::default();
    let requests: Arc<[AtomicUsize; PHASES]> = Arc::default();
    let server = server(Arc::clone(&phase), Arc::clone(&requests));
    let attempts: Arc<AtomicUsize> = Arc::default();
    let mut calls = JoinSet::new();
    let mut states = Vec::new();
    let mut ticks = interval(TICK);
    for nth in 0..PHASES {
        phase.store(nth, Relaxed);
        for _ in 0..CALLS / CALLS_PER_TICK {
            ticks.tick().await;
            for _ in 0..CALLS_PER_TICK {
                let (address, attempts) = (server.address, Arc::clone(&attempts));
                calls.spawn(async move { (nth, get(address, &attempts).await) });
            }
        }
        states.push(BREAKER.state());
    }
    let mut counts = [Counts::default(); PHASES];
    for (nth, end) in calls.join_all().await {
        match end {
            Ok(()) => counts[nth].succeeded += 1,
            Err(Failure::Rejected) => counts[nth].rejected += 1,
            Err(_) => counts[nth].failed += 1,
        }
    }
    for (counts, requests) in counts.iter_mut().zip(&*requests) {
        counts.requests = requests.load(Relaxed);
    }
    let [well, browned_out, down, recovering, recovered] = counts;
    println!("{counts:#?}");

    assert!(well.succeeded > CALLS * 99 / 100);
    // With `max = 3`, the server would get 2.5 requests for each call.
    assert!(browned_out.requests < CALLS * 12 / 10);
    assert!(browned_out.succeeded > CALLS * 30 / 100);
    assert!(down.requests < CALLS * 6 / 10);
    // The rejected calls started while the breaker was open.
    assert_eq!(recovering.succeeded + recovering.rejected, CALLS);
    assert!(recovering.rejected < CALLS / 4);
    assert_eq!(recovered.succeeded, CALLS);

    assert_eq!(states, [Closed, Closed, Open, Closed, Closed]);
    assert!(BUDGET.to_string().starts_with("100 of"), "{BUDGET}");
    // No call is lost or counted twice.
    for counts in counts {
        assert_eq!(counts.succeeded + counts.failed + counts.rejected, CALLS);
    }
    let all: usize = counts.iter().map(|counts| counts.requests).sum();
    assert_eq!(all, attempts.load(Relaxed));
    assert!(start.elapsed() < Duration::from_secs(15));
}

fn server(phase: Arc<AtomicUsize>, requests: Arc<[AtomicUsize; PHASES]>) -> Server {
    Server::start(move |mut stream| {
        let (phase, requests) = (Arc::clone(&phase), Arc::clone(&requests));
        async move {
            read_head(&mut stream).await?;
            let phase = phase.load(Relaxed);
            let nth = requests[phase].fetch_add(1, Relaxed);
            // 37 and 100 are coprime, so each number occurs once in a hundred requests.
            let line = if nth * 37 % 100 < FAILING[phase] {
                "503 Service Unavailable"
            } else {
                "200 OK"
            };
            stream.write_all(status(line).as_bytes()).await
        }
    })
}
