//! A server that is down for a while, or fails half of its requests, with request rates that differ by a factor of a
//! thousand.

use std::cell::{Cell, RefCell};
use std::ops::Range;
use std::rc::Rc;
use std::time::Duration;

use retry_protections::Breaker;
use tokio::task::JoinSet;
use tokio::time::{Instant, sleep};

use crate::client::Client;
use crate::figure::Figure;
use crate::plot::{Axis, Line, Plot};
use crate::scenario::Scenario;
use crate::server::{Failure, Server};
use crate::simulation::{self, Chance};
use crate::timeline::{is_in, per_second};

/// The end of the simulation, in seconds, like all times in this module.
const END: u32 = 100;
/// The time in which every request fails.
const OUTAGE: Range<u32> = 40..70;
const LATENCY: Duration = Duration::from_millis(10);
/// The shortest gap between two calls. The simulated clock's steps are too long for shorter gaps.
const SHORTEST_GAP: Duration = Duration::from_millis(10);

/// One line of the plot.
struct Case {
    name: &'static str,
    /// Calls per second.
    rate: u32,
    retries: u32,
}

const CASES: [Case; 4] = [
    Case {
        name: "10 calls a second, no retries",
        rate: 10,
        retries: 0,
    },
    Case {
        name: "10 calls a second",
        rate: 10,
        retries: 3,
    },
    Case {
        name: "200 calls a second",
        rate: 200,
        retries: 3,
    },
    Case {
        name: "5,000 calls a second",
        rate: 5_000,
        retries: 3,
    },
];

struct UnreliableServer {
    start: Instant,
    /// Returns the fraction of requests that fail at this time.
    failing: fn(Duration) -> f64,
    chance: Chance,
    requests: RefCell<Vec<Duration>>,
}

impl Server for UnreliableServer {
    async fn answer(&self) -> Result<(), Failure> {
        let now = self.start.elapsed();
        self.requests.borrow_mut().push(now);
        sleep(LATENCY).await;
        if self.chance.happens((self.failing)(now)) {
            return Err(Failure::Unavailable);
        }
        Ok(())
    }
}

struct Outcome {
    requests: Vec<Duration>,
    /// The times of the first and the last call that the breaker rejected before any attempt.
    rejected: Option<(Duration, Duration)>,
}

pub(crate) fn run() -> Scenario {
    let outcomes = |failing: fn(Duration) -> f64| {
        CASES
            .each_ref()
            .map(|case| simulation::run(1, load(case, failing)))
    };
    let down = outcomes(|now| f64::from(u8::from(is_in(now, &OUTAGE))));
    let half = outcomes(|_| 0.5);
    let line = |(case, outcome): (&Case, &Outcome)| {
        let points = (0..END).map(|second| {
            let requests = per_second(&outcome.requests, &(second..second + 1));
            (f64::from(second), requests / f64::from(case.rate))
        });
        Line::new(case.name, points.collect())
    };
    let cases = CASES.iter().zip(&down).zip(&half);
    Scenario {
        title: "Outage",
        about: format!(
            "All requests fail from {} s to {} s, and none before and after. The clients share a breaker.",
            OUTAGE.start, OUTAGE.end
        ),
        plots: vec![Plot {
            title: "A breaker with its defaults.",
            caption: "At any request rate, within three seconds the server gets only a trial call every five seconds.",
            x: Axis::linear("seconds"),
            y: Axis::linear("requests for each call"),
            lines: CASES.iter().zip(&down).map(line).collect(),
        }],
        figures: cases
            .flat_map(|((case, down), half)| figures(case, down, half))
            .collect(),
    }
}

fn figures(case: &Case, down: &Outcome, half: &Outcome) -> [Figure; 3] {
    let (first, last) = down.rejected.unwrap_or_default();
    let after = |moment: Duration, second: u32| moment.as_secs_f64() - f64::from(second);
    let times_open = f64::from(u8::from(half.rejected.is_some()));
    let (opens, closes) = (after(first, OUTAGE.start), after(last, OUTAGE.end));
    [
        Figure::new(case.name, "opens after", opens, " s", 1.0..=3.0),
        Figure::new(case.name, "closes after", closes, " s", -5.0..=5.5),
        Figure::new(
            case.name,
            "opens while half fail",
            times_open,
            "",
            0.0..=0.0,
        ),
    ]
}

async fn load(case: &Case, failing: fn(Duration) -> f64) -> Outcome {
    let start = Instant::now();
    let server = Rc::new(UnreliableServer {
        start,
        failing,
        chance: Chance::new(1),
        requests: RefCell::default(),
    });
    let client = Rc::new(Client::Breaker(Breaker::new()));
    let rejected = Rc::new(Cell::new(None));
    let gap = SHORTEST_GAP.max(Duration::from_secs(1) / case.rate);
    let at_once = u128::from(case.rate) * gap.as_millis() / 1000;
    let mut calls = JoinSet::new();
    while start.elapsed() < Duration::from_secs(END.into()) {
        for _ in 0..at_once {
            let (server, client) = (Rc::clone(&server), Rc::clone(&client));
            let (rejected, retries) = (Rc::clone(&rejected), case.retries);
            calls.spawn_local(async move {
                if let Err(Failure::Rejected) = client.call(&*server, retries).await {
                    let now = start.elapsed();
                    let first = rejected.get().map_or(now, |(first, _)| first);
                    rejected.set(Some((first, now)));
                }
            });
        }
        sleep(gap).await;
        while calls.try_join_next().is_some() {}
    }
    calls.join_all().await;
    Outcome {
        requests: server.requests.take(),
        rejected: rejected.get(),
    }
}
