//! A server with a few slow responses, and clients that send a second request.

use std::cell::RefCell;
use std::ops::{Range, RangeInclusive};
use std::rc::Rc;
use std::time::Duration;

use retry_protections::Latency;
use retry_runtime::{Budget, retry};
use tokio::time::Instant;

use crate::figure::Figure;
use crate::plot::{Axis, Line, Plot};
use crate::scenario::Scenario;
use crate::server::{Failure, Server};
use crate::simulation::{self, Chance};
use crate::timeline::{self, FinishedCall, Work, is_in};

/// The end of the simulation, in seconds, like all times in this module.
const END: u32 = 300;
const CALM: Range<u32> = 0..60;
const BROWN_OUT: Range<u32> = 60..75;
/// Calls per second.
const RATE: f64 = 100.0;
const LATENCY: Duration = Duration::from_millis(50);
/// The added latency for each request that the server is processing.
const SHARE: Duration = Duration::from_millis(4);
const SHARE_IN_BROWN_OUT: Duration = Duration::from_millis(12);
/// The fraction of slow responses, and their added latency.
const SLOW: f64 = 0.04;
const DELAY: Duration = Duration::from_secs(1);

#[retry(max = 0, timeout = "3s")]
async fn unhedged(server: &impl Server) -> Result<(), Failure> {
    server.answer().await
}

#[retry(max = 1, timeout = "3s", hedge = "200ms")]
async fn hedged(server: &impl Server) -> Result<(), Failure> {
    server.answer().await
}

#[retry(max = 1, timeout = "3s", hedge = latency.quantile(0.95))]
async fn hedged_by_latency(server: &impl Server, latency: &Latency) -> Result<(), Failure> {
    server.answer().await
}

#[retry(max = 1, timeout = "3s", hedge = "200ms", budget = budget)]
async fn hedged_with_budget(server: &impl Server, budget: &Budget) -> Result<(), Failure> {
    server.answer().await
}

#[retry(max = 1, timeout = "3s", hedge = latency.quantile(0.95), budget = budget)]
async fn hedged_by_latency_with_budget(
    server: &impl Server,
    latency: &Latency,
    budget: &Budget,
) -> Result<(), Failure> {
    server.answer().await
}

enum Client {
    Unhedged,
    Hedged,
    HedgedByLatency(Latency),
    HedgedWithBudget(Budget),
    HedgedByLatencyWithBudget(Latency, Budget),
}

impl Client {
    async fn call(&self, server: &impl Server) -> Result<(), Failure> {
        match self {
            Self::Unhedged => unhedged(server).await,
            Self::Hedged => hedged(server).await,
            Self::HedgedByLatency(latency) => hedged_by_latency(server, latency).await,
            Self::HedgedWithBudget(budget) => hedged_with_budget(server, budget).await,
            Self::HedgedByLatencyWithBudget(latency, budget) => {
                hedged_by_latency_with_budget(server, latency, budget).await
            }
        }
    }
}

/// A line of the plots, and its expected results.
struct Case {
    name: &'static str,
    client: fn() -> Client,
    /// The 99th percentile of a call's duration under normal load, in seconds.
    p99: RangeInclusive<f64>,
    /// The requests per call under normal load.
    requests: RangeInclusive<f64>,
    /// The number of seconds after the brown-out in which calls still fail.
    failing: RangeInclusive<f64>,
}

const CASES: [Case; 5] = [
    Case {
        name: "no hedging",
        client: || Client::Unhedged,
        p99: 1.0..=1.3,
        requests: 1.0..=1.0,
        failing: 0.0..=15.0,
    },
    Case {
        name: "hedge after 200 ms",
        client: || Client::Hedged,
        p99: 0.0..=0.4,
        requests: 1.0..=1.06,
        failing: 25.0..=90.0,
    },
    Case {
        name: "hedge after the 95th percentile",
        client: || Client::HedgedByLatency(Latency::new()),
        p99: 0.0..=0.7,
        requests: 1.0..=1.15,
        failing: 15.0..=90.0,
    },
    Case {
        name: "hedge after 200 ms, budget, ratio 0.1",
        client: || Client::HedgedWithBudget(Budget::ratio(0.1)),
        p99: 0.0..=0.4,
        requests: 1.0..=1.06,
        failing: 0.0..=15.0,
    },
    Case {
        name: "hedge after the 95th percentile, budget, ratio 0.1",
        client: || Client::HedgedByLatencyWithBudget(Latency::new(), Budget::ratio(0.1)),
        p99: 0.0..=0.7,
        requests: 1.0..=1.15,
        failing: 0.0..=15.0,
    },
];

struct UnevenServer {
    start: Instant,
    chance: Chance,
    work: Work,
    /// The arrival time of each request.
    requests: RefCell<Vec<Duration>>,
}

impl Server for UnevenServer {
    async fn answer(&self) -> Result<(), Failure> {
        let now = self.start.elapsed();
        self.requests.borrow_mut().push(now);
        let share = if is_in(now, &BROWN_OUT) {
            SHARE_IN_BROWN_OUT
        } else {
            SHARE
        };
        let delay = if self.chance.happens(SLOW) {
            DELAY
        } else {
            Duration::ZERO
        };
        self.work
            .on_one_more(|running| LATENCY + share * running + delay)
            .await;
        Ok(())
    }
}

struct Outcome {
    calls: Vec<FinishedCall>,
    requests: Vec<Duration>,
}

impl Outcome {
    fn success(&self, during: Range<u32>) -> f64 {
        timeline::success(&self.calls, &during)
    }

    /// Returns the 99th percentile of the durations of calls that started in this time, in seconds.
    fn p99(&self, during: Range<u32>) -> f64 {
        let calls = self.calls.iter().filter(|call| is_in(call.began, &during));
        let mut times: Vec<_> = calls.map(|call| call.took).collect();
        times.sort();
        times[times.len() * 99 / 100].as_secs_f64()
    }

    fn requests_per_call(&self, during: Range<u32>) -> f64 {
        let calls: Vec<_> = self.calls.iter().map(|call| call.began).collect();
        timeline::per_second(&self.requests, &during) / timeline::per_second(&calls, &during)
    }

    /// Returns the number of seconds after the brown-out in which calls still fail.
    fn failing(&self) -> f64 {
        let failed = self.calls.iter().filter(|call| !call.is_success);
        let last = failed
            .map(|call| call.began.as_secs_f64())
            .fold(0.0, f64::max);
        (last - f64::from(BROWN_OUT.end)).max(0.0)
    }
}

pub(crate) fn run() -> Scenario {
    let outcomes = CASES
        .each_ref()
        .map(|case| simulation::run(1, load((case.client)())));
    let lines = |value: fn(&Outcome, Range<u32>) -> f64| {
        let line = |(case, outcome): (&Case, &Outcome)| {
            Line::new(
                case.name,
                timeline::points(END, |during| value(outcome, during)),
            )
        };
        CASES.iter().zip(&outcomes).map(line).collect()
    };
    let mut figures = Vec::new();
    for (case, outcome) in CASES.iter().zip(&outcomes) {
        let (p99, requests) = (outcome.p99(CALM), outcome.requests_per_call(CALM));
        figures.extend([
            Figure::new(
                case.name,
                "99th percentile, normal load",
                p99,
                " s",
                case.p99.clone(),
            ),
            Figure::new(
                case.name,
                "requests per call, normal load",
                requests,
                "",
                case.requests.clone(),
            ),
            Figure::new(
                case.name,
                "fails after the brown-out for",
                outcome.failing(),
                " s",
                case.failing.clone(),
            ),
        ]);
    }
    let time = Axis::linear("seconds");
    Scenario {
        title: "Tail latency",
        about: format!(
            "The server takes 50 ms, and 4 ms more for each request that it is processing, even for clients that \
             have disconnected. {} % of its responses take a second longer. From 60 s to 75 s it takes 12 ms for each \
             request. There are {RATE} calls a second; a client waits 3 s.",
            100.0 * SLOW
        ),
        plots: vec![
            Plot {
                title: "99th percentile of the duration of calls.",
                caption: "Under normal load, hedging removes the slow responses. In a brown-out, all responses are slow.",
                x: time,
                y: Axis::linear("seconds"),
                lines: lines(Outcome::p99),
            },
            Plot {
                title: "Load.",
                caption: "When all responses are slow, all calls are hedged: twice the requests, long after the \
                      brown-out. A budget keeps the extra requests near a tenth.",
                x: time,
                y: Axis::linear("requests for each call"),
                lines: lines(Outcome::requests_per_call),
            },
            Plot {
                title: "Success.",
                caption: "Hedging without a budget prolongs the brown-out.",
                x: time,
                y: Axis::linear("% of calls that succeed"),
                lines: lines(Outcome::success),
            },
        ],
        figures,
    }
}

async fn load(client: Client) -> Outcome {
    let server = Rc::new(UnevenServer {
        start: Instant::now(),
        chance: Chance::new(1),
        work: Work::default(),
        requests: RefCell::default(),
    });
    let client = Rc::new(client);
    let call = || {
        let (server, client) = (Rc::clone(&server), Rc::clone(&client));
        async move { client.call(&*server).await }
    };
    let calls = timeline::calls(END, |_| RATE, call).await;
    let requests = server.requests.take();
    Outcome { calls, requests }
}
