//! A healthy server that rejects some requests whatever the load, and clients that only a limiter could slow down.

use std::cell::Cell;
use std::rc::Rc;
use std::task::Waker;
use std::time::Duration;

use retry_protections::{ConcurrencyLimiter, RateLimiter};
use retry_runtime::Kind;
use retry_runtime::seam::{Admission, AdmissionControl, AttemptOutcome, Changes, Permit};
use tokio::task::JoinSet;
use tokio::time::{Instant, sleep, timeout};

use crate::client::Client;
use crate::figure::Figure;
use crate::plot::{Axis, Line, Plot};
use crate::scenario::Scenario;
use crate::server::{Failure, Server};
use crate::simulation::{self, Chance};

/// The number of workers. Each makes one call at a time.
const WORKERS: u32 = 50;
/// The latency of a request, rejected or not.
const LATENCY: Duration = Duration::from_millis(50);
/// The share of requests that are rejected, in percent.
const REFUSED: [f64; 4] = [0.1, 1.0, 5.0, 20.0];
const SHARES: [&str; 4] = [
    "0.1 % refused",
    "1 % refused",
    "5 % refused",
    "20 % refused",
];

/// A value for each share of rejections.
type ByShare = [f64; REFUSED.len()];
/// The time at the start that is not measured, because the limiters have not adapted yet.
const WARM_UP: Duration = Duration::from_secs(20);
const COUNTED: Duration = Duration::from_secs(20);
/// The minimum number of pauses that are measured.
const PAUSES: u32 = 10;

/// The wait that the server asks for.
struct Asked {
    hint: Option<Duration>,
    /// Shown next to a client's name.
    name: &'static str,
    plot: &'static str,
    caption: &'static str,
}

const ASKED: [Asked; 4] = [
    Asked {
        hint: None,
        name: "no hint",
        plot: "No hint.",
        caption: "Adaptive and AIMD limits react to a high share of rejections, but not to a low one.",
    },
    Asked {
        hint: Some(Duration::from_millis(20)),
        name: "20 ms",
        plot: "A hint of 20 ms.",
        caption: "A short pause costs little more than its own length.",
    },
    Asked {
        hint: Some(Duration::from_secs(1)),
        name: "1 s",
        plot: "A hint of 1 s.",
        caption: "All calls pause for a second at each rejection. With one rejection in a hundred, the limiters lose hardly more than that.",
    },
    Asked {
        hint: Some(Duration::from_secs(30)),
        name: "30 s",
        plot: "A hint of 30 s.",
        caption: "Beyond the pauses, a limiter loses only the wave of requests that it does not send after each pause.",
    },
];

struct Healthy {
    refused: f64,
    hint: Option<Duration>,
    chance: Chance,
}

impl Server for Healthy {
    async fn answer(&self) -> Result<(), Failure> {
        sleep(LATENCY).await;
        if self.chance.happens(self.refused) {
            return Err(Failure::Throttled(self.hint));
        }
        Ok(())
    }
}

/// A limiter that only pauses: no attempt starts while the server asks to wait, and then all waiting attempts start at
/// once.
#[derive(Default)]
struct Pauses {
    until: Cell<Option<Instant>>,
}

impl AdmissionControl for Pauses {
    fn enter(&self, cost: u32) -> Permit {
        Permit::new(0, cost)
    }

    fn poll(&self, _: &mut Permit, _: &Waker) -> Admission {
        let left = self.until.get().map(|until| until - Instant::now());
        match left.filter(|left| !left.is_zero()) {
            at_least @ Some(_) => Admission::Wait { ahead: 0, at_least },
            None => Admission::Admitted,
        }
    }

    fn leave(&self, _: Permit, end: AttemptOutcome) -> Changes {
        if let AttemptOutcome::Failure {
            kind: Kind::Throttled,
            hint: Some(hint),
        } = end
        {
            self.until
                .set(self.until.get().max(Some(Instant::now() + hint)));
        }
        [None; 2]
    }
}

/// A line of the plots, and its expected results.
struct Case {
    name: &'static str,
    client: fn() -> Client,
    /// The minimum rate for each hint, as a share of the rate that the pauses alone allow.
    least: [ByShare; ASKED.len()],
}

/// The bounds for a fixed rate, which is above the rate of the workers.
const FIXED: [ByShare; ASKED.len()] = [
    [0.95, 0.95, 0.95, 0.95],
    [0.95, 0.9, 0.8, 0.9],
    [0.95, 0.95, 0.95, 0.85],
    [0.95, 0.95, 0.95, 0.95],
];

const CASES: [Case; 6] = [
    Case {
        name: "no limiter",
        client: || Client::Unprotected,
        least: [[0.0; 4]; 4],
    },
    Case {
        name: "pauses alone",
        client: || Client::limiter(Pauses::default()),
        least: [[0.0; 4]; 4],
    },
    Case {
        name: "adaptive rate",
        client: || Client::limiter(RateLimiter::adaptive()),
        least: [
            [0.95, 0.9, 0.85, 0.0],
            [0.95, 0.9, 0.75, 0.0],
            [0.95, 0.9, 0.25, 0.01],
            [0.95, 0.5, 0.25, 0.01],
        ],
    },
    Case {
        name: "AIMD of attempts at a time",
        client: || Client::limiter(ConcurrencyLimiter::aimd()),
        least: [
            [0.95, 0.95, 0.65, 0.35],
            [0.95, 0.9, 0.4, 0.2],
            [0.95, 0.95, 0.35, 0.1],
            [0.95, 0.5, 0.3, 0.05],
        ],
    },
    Case {
        name: "fixed rate of 1,000 a second",
        client: || Client::limiter(RateLimiter::fixed(1000, Duration::from_secs(1))),
        least: FIXED,
    },
    Case {
        name: "quota of 60,000 a minute",
        client: || Client::limiter(RateLimiter::quota(60_000, u32::MAX)),
        least: FIXED,
    },
];

/// Returns the number of calls that succeed per second.
async fn through(client: Client, refused: f64, hint: Option<Duration>) -> f64 {
    let counted = COUNTED.max(PAUSES * hint.unwrap_or_default());
    let (start, end) = (Instant::now(), WARM_UP + counted);
    let server = Healthy {
        refused: refused / 100.0,
        hint,
        chance: Chance::new(3),
    };
    let (server, client) = (Rc::new(server), Rc::new(client));
    let mut workers = JoinSet::new();
    for _ in 0..WORKERS {
        let (server, client) = (Rc::clone(&server), Rc::clone(&client));
        workers.spawn_local(async move {
            let mut succeeded = 0.0;
            let calls = async {
                loop {
                    let is_success = client.call(&*server, u32::MAX).await.is_ok();
                    if is_success && start.elapsed() > WARM_UP {
                        succeeded += 1.0;
                    }
                }
            };
            let _: Result<(), _> = timeout(end, calls).await;
            succeeded
        });
    }
    workers.join_all().await.iter().sum::<f64>() / counted.as_secs_f64()
}

/// The results of each case.
type Outcome = [ByShare; CASES.len()];

pub(crate) fn run() -> Scenario {
    let outcomes = ASKED.each_ref().map(|asked| {
        CASES.each_ref().map(|case| {
            let load = |refused| through((case.client)(), refused, asked.hint);
            REFUSED.map(|refused| simulation::run(1, load(refused)))
        })
    });
    Scenario {
        title: "A healthy server that rejects some requests",
        about: format!(
            "The server takes 50 ms for each request and rejects some, at any rate. {WORKERS} workers make one \
             call at a time, with unlimited retries."
        ),
        plots: ASKED.iter().zip(&outcomes).map(plot).collect(),
        figures: ASKED
            .iter()
            .zip(&outcomes)
            .enumerate()
            .flat_map(figures)
            .collect(),
    }
}

fn plot((asked, outcome): (&Asked, &Outcome)) -> Plot {
    let line = |(case, through): (&Case, &ByShare)| {
        Line::new(case.name, REFUSED.into_iter().zip(*through).collect())
    };
    Plot {
        title: asked.plot,
        caption: asked.caption,
        x: Axis::logarithmic("% of requests refused"),
        y: Axis::linear("calls per second"),
        lines: CASES.iter().zip(outcome).map(line).collect(),
    }
}

fn figures((hint, (asked, outcome)): (usize, (&Asked, &Outcome))) -> Vec<Figure> {
    let [_, pauses, ..] = outcome;
    let mut figures = Vec::new();
    for (case, through) in CASES.iter().zip(outcome) {
        for (share, what) in SHARES.into_iter().enumerate() {
            let name = format!("{}, {}", case.name, asked.name);
            let least = case.least[hint][share] * pauses[share];
            let bounds = least..=f64::INFINITY;
            figures.push(Figure::new(name, what, through[share], " a second", bounds));
        }
    }
    figures
}
