//! A model API with a limit of requests per minute, and workers that send more.

use std::cell::{Cell, RefCell};
use std::ops::RangeInclusive;
use std::rc::Rc;
use std::time::Duration;

use retry_protections::{ConcurrencyLimiter, RateLimiter};
use retry_runtime::Budget;
use tokio::task::JoinSet;
use tokio::time::{Instant, sleep};

use crate::client::Client;
use crate::figure::{Figure, Rounded};
use crate::plot::{Axis, Line, Plot};
use crate::scenario::Scenario;
use crate::server::{Failure, Server};
use crate::simulation;
use crate::timeline::FinishedCall;

/// The number of workers. Each makes one call at a time.
const WORKERS: u32 = 200;
const CALLS: u32 = 10_000;
/// The number of requests that the API accepts in a minute.
const QUOTA: f64 = 60.0;
const MINUTE: Duration = Duration::from_mins(1);
/// The latency of an accepted request.
const LATENCY: Duration = Duration::from_secs(1);
const REFUSAL: Duration = Duration::from_millis(50);
/// The time that the API needs for all calls: the end of the plots.
const END: Duration = Duration::from_secs(10_000);
/// The time that a point of the plots covers.
const SPAN: Duration = Duration::from_secs(200);

/// The API's rule for the limit.
#[derive(Clone, Copy)]
enum Rule {
    /// The remaining requests grow with time, up to the quota.
    Bucket,
    /// The quota is reset at the full minute.
    Window,
}

struct Api {
    rule: Rule,
    left: Cell<f64>,
    /// The time to which `left` applies.
    since: Cell<Instant>,
    start: Instant,
    refusals: RefCell<Vec<Duration>>,
}

impl Api {
    fn new(rule: Rule) -> Rc<Self> {
        let start = Instant::now();
        Rc::new(Self {
            rule,
            left: Cell::new(QUOTA),
            since: Cell::new(start),
            start,
            refusals: RefCell::default(),
        })
    }

    /// Accepts and counts a request, or returns the time to wait.
    fn admit(&self) -> Result<(), Duration> {
        self.refill();
        let left = self.left.get();
        if left >= 1.0 {
            self.left.set(left - 1.0);
            return Ok(());
        }
        match self.rule {
            Rule::Bucket => Err(MINUTE.mul_f64((1.0 - left) / QUOTA)),
            Rule::Window => Err(MINUTE.saturating_sub(self.since.get().elapsed())),
        }
    }

    fn refill(&self) {
        let now = Instant::now();
        match self.rule {
            Rule::Bucket => {
                let minutes = (now - self.since.get()).div_duration_f64(MINUTE);
                self.left
                    .set((self.left.get() + minutes * QUOTA).min(QUOTA));
                self.since.set(now);
            }
            Rule::Window => {
                while now - self.since.get() >= MINUTE {
                    self.left.set(QUOTA);
                    self.since.set(self.since.get() + MINUTE);
                }
            }
        }
    }
}

impl Server for Api {
    async fn answer(&self) -> Result<(), Failure> {
        let Err(hint) = self.admit() else {
            sleep(LATENCY).await;
            return Ok(());
        };
        self.refusals.borrow_mut().push(self.start.elapsed());
        sleep(REFUSAL).await;
        Err(Failure::Throttled(Some(hint)))
    }
}

struct Outcome {
    calls: Vec<FinishedCall>,
    refusals: Vec<Duration>,
}

async fn load(rule: Rule, client: Client, retries: u32) -> Outcome {
    let api = Api::new(rule);
    let client = Rc::new(client);
    let begun = Rc::new(Cell::new(0));
    let mut workers = JoinSet::new();
    for _ in 0..WORKERS {
        let (api, client, begun) = (Rc::clone(&api), Rc::clone(&client), Rc::clone(&begun));
        workers.spawn_local(async move {
            let mut calls = Vec::new();
            while begun.get() < CALLS {
                begun.set(begun.get() + 1);
                calls.push(FinishedCall::of(api.start, client.call(&*api, retries)).await);
            }
            calls
        });
    }
    let calls = workers.join_all().await.concat();
    let refusals = api.refusals.take();
    Outcome { calls, refusals }
}

/// A line of the plots, and its expected results.
struct Case {
    name: &'static str,
    client: fn() -> Client,
    /// The percentage of calls that fail, with 3 retries each.
    failed: RangeInclusive<f64>,
    /// The number of rejected requests, with unlimited retries.
    refused: RangeInclusive<f64>,
    /// The number of rejected requests if the quota is reset each minute.
    refused_in_windows: RangeInclusive<f64>,
    /// The duration of the slowest call in minutes, with unlimited retries.
    slowest: RangeInclusive<f64>,
}

const CASES: [Case; 5] = [
    Case {
        name: "each call by itself",
        client: || Client::Unprotected,
        failed: 90.0..=99.0,
        refused: 90_000.0..=160_000.0,
        refused_in_windows: 25_000.0..=40_000.0,
        slowest: 120.0..=170.0,
    },
    Case {
        name: "budget, standard",
        client: || Client::Budget(Budget::standard()),
        failed: 99.0..=100.0,
        refused: 9_000.0..=11_000.0,
        refused_in_windows: 9_000.0..=11_000.0,
        slowest: 0.0..=1.0,
    },
    Case {
        name: "limiter, adaptive rate",
        client: || Client::limiter(RateLimiter::adaptive()),
        failed: 0.0..=0.1,
        refused: 0.0..=600.0,
        refused_in_windows: 0.0..=600.0,
        slowest: 0.0..=30.0,
    },
    Case {
        name: "limiter, quota of 60 a minute",
        client: || Client::limiter(RateLimiter::quota(60, u32::MAX)),
        failed: 0.0..=0.0,
        refused: 0.0..=0.0,
        refused_in_windows: 0.0..=0.0,
        slowest: 0.0..=5.0,
    },
    Case {
        name: "limiter, AIMD of attempts at a time",
        client: || Client::limiter(ConcurrencyLimiter::aimd()),
        failed: 0.0..=0.5,
        refused: 1_000.0..=12_000.0,
        refused_in_windows: 0.0..=2_000.0,
        slowest: 0.0..=30.0,
    },
];

impl Outcome {
    /// Returns the share of calls that failed, in percent.
    fn failed(&self) -> f64 {
        let failed = self.calls.iter().filter(|call| !call.is_success);
        100.0 * failed.fold(0.0, |count, _| count + 1.0) / f64::from(CALLS)
    }

    fn refused(&self) -> f64 {
        self.refusals.iter().fold(0.0, |count, _| count + 1.0)
    }

    /// Returns the duration of the slowest call, in minutes.
    fn slowest(&self) -> f64 {
        let slowest = self.calls.iter().map(|call| call.took).max();
        slowest.unwrap_or_default().div_duration_f64(MINUTE)
    }

    /// Returns the cumulative number of successful calls over time.
    fn succeeded_by_time(&self) -> Vec<(f64, f64)> {
        let successes = self.calls.iter().filter(|call| call.is_success);
        by_time(successes.map(|call| call.began + call.took))
    }

    fn refused_by_time(&self) -> Vec<(f64, f64)> {
        by_time(self.refusals.iter().copied())
    }
}

/// Returns the cumulative number of events over time, in hours.
fn by_time(moments: impl Iterator<Item = Duration>) -> Vec<(f64, f64)> {
    let mut moments: Vec<_> = moments.collect();
    moments.sort();
    let mut counted = 0.0;
    let mut points = vec![(0.0, 0.0)];
    let mut moments = moments.into_iter().peekable();
    let mut end = Duration::ZERO;
    while end < END {
        end += SPAN;
        while moments.next_if(|moment| *moment <= end).is_some() {
            counted += 1.0;
        }
        points.push((hours(end), counted));
    }
    points
}

fn hours(duration: Duration) -> f64 {
    duration.as_secs_f64() / 3600.0
}

pub(crate) fn run() -> Scenario {
    let runs = |rule, retries| {
        CASES
            .each_ref()
            .map(|case| simulation::run(1, load(rule, (case.client)(), retries)))
    };
    let (hasty, patient, windows) = (
        runs(Rule::Bucket, 3),
        runs(Rule::Bucket, u32::MAX),
        runs(Rule::Window, u32::MAX),
    );
    let lines = |outcomes: &[Outcome], points: fn(&Outcome) -> Vec<(f64, f64)>| {
        let lines = CASES.iter().zip(outcomes);
        lines
            .map(|(case, outcome)| Line::new(case.name, points(outcome)))
            .collect()
    };
    let mut figures = Vec::new();
    for (((case, hasty), patient), windows) in CASES.iter().zip(&hasty).zip(&patient).zip(&windows)
    {
        figures.extend([
            Figure::new(
                case.name,
                "failed, max = 3",
                hasty.failed(),
                " %",
                case.failed.clone(),
            ),
            Figure::new(
                case.name,
                "refusals, unlimited retries",
                patient.refused(),
                "",
                case.refused.clone(),
            ),
            Figure::new(
                case.name,
                "refusals, fixed windows",
                windows.refused(),
                "",
                case.refused_in_windows.clone(),
            ),
            Figure::new(
                case.name,
                "slowest call",
                patient.slowest(),
                " min",
                case.slowest.clone(),
            ),
        ]);
    }
    let time = Axis::linear("hours");
    Scenario {
        title: "A rate-limited model API",
        about: format!(
            "The API accepts {QUOTA} requests a minute, and each takes a second; the others get 429 and \
             Retry-After. {WORKERS} workers have {} calls to make.",
            Rounded(CALLS.into())
        ),
        plots: vec![
            Plot {
                title: "Calls that succeeded, with max = 3.",
                caption: "Calls that react only to their own rejections use up their retries and fail. With a limiter, \
                      they wait for their turn.",
                x: time,
                y: Axis::linear("calls"),
                lines: lines(&hasty, Outcome::succeeded_by_time),
            },
            Plot {
                title: "Rejected requests, with unlimited retries.",
                caption: "With unlimited retries all calls succeed, after a dozen rejections each. With a shared limiter, \
                      hardly any request is rejected. No client is faster than the API's limit.",
                x: time,
                y: Axis::linear("rejected requests"),
                lines: lines(&patient, Outcome::refused_by_time),
            },
        ],
        figures,
    }
}
