//! A server that fails a fraction of its requests, from none to all.

use std::cell::Cell;
use std::ops::RangeInclusive;
use std::rc::Rc;
use std::time::Duration;

use retry_protections::Breaker;
use retry_runtime::Budget;
use tokio::task::JoinSet;
use tokio::time::sleep;

use crate::client::Client;
use crate::figure::Figure;
use crate::plot::{Axis, Line, Plot};
use crate::scenario::{Extent, Scenario};
use crate::server::{Failure, Server};
use crate::simulation::{self, Chance};

const CLIENTS: u32 = 100;
/// The number of calls of each client.
const CALLS: u32 = 600;
const GAP: Duration = Duration::from_millis(100);
const RETRIES: u32 = 3;
const LATENCY: Duration = Duration::from_millis(10);

struct Unreliable {
    /// The fraction of requests that fail, from 0 to 1.
    failing: f64,
    chance: Chance,
    attempts: Cell<u32>,
}

impl Server for Unreliable {
    async fn answer(&self) -> Result<(), Failure> {
        self.attempts.set(self.attempts.get() + 1);
        sleep(LATENCY).await;
        if self.chance.happens(self.failing) {
            return Err(Failure::Unavailable);
        }
        Ok(())
    }
}

/// A line of the plots, and its expected results.
struct Case {
    name: &'static str,
    client: fn() -> Client,
    /// True if all clients share the protections, like tasks of one process; false if each has its own.
    is_shared: bool,
    /// The number of requests per call when all requests fail.
    requests: RangeInclusive<f64>,
    /// The percentage of successful calls when half of the requests fail.
    success: RangeInclusive<f64>,
}

const CASES: [Case; 7] = [
    Case {
        name: "3 retries",
        client: || Client::Unprotected,
        is_shared: true,
        requests: 4.0..=4.0,
        success: 93.0..=94.5,
    },
    Case {
        name: "no retries",
        client: || Client::NoRetries,
        is_shared: true,
        requests: 1.0..=1.0,
        success: 49.0..=51.0,
    },
    Case {
        name: "budget, standard",
        client: || Client::Budget(Budget::standard()),
        is_shared: true,
        requests: 1.0..=1.001,
        success: 52.0..=60.0,
    },
    Case {
        name: "budget, ratio 0.1",
        client: || Client::Budget(Budget::ratio(0.1)),
        is_shared: true,
        requests: 1.0..=1.11,
        success: 54.0..=60.0,
    },
    Case {
        name: "budget, ratio 0.1 and 10 per second, for each client",
        client: || Client::Budget(Budget::ratio(0.1).per_second(10.0)),
        is_shared: false,
        requests: 2.2..=2.4,
        success: 93.0..=94.5,
    },
    Case {
        name: "breaker, ratio 0.5",
        client: || Client::Breaker(Breaker::new().ratio(0.5)),
        is_shared: true,
        requests: 0.0..=0.01,
        success: 0.0..=2.0,
    },
    Case {
        name: "breaker, ratio 0.9",
        client: || Client::Breaker(Breaker::new()),
        is_shared: true,
        requests: 0.0..=0.01,
        success: 93.0..=94.5,
    },
];

/// The results of all calls.
#[derive(Clone, Copy)]
struct Outcome {
    attempts_per_call: f64,
    /// In percent.
    succeeded: f64,
}

pub(crate) fn run(extent: Extent) -> Scenario {
    let tenths: Vec<u32> = match extent {
        Extent::Whole => (0..=10).collect(),
        Extent::Short => vec![0, 5, 10],
    };
    let outcomes = CASES.each_ref().map(|case| {
        let outcomes = tenths.iter().map(|tenths| {
            let failing = f64::from(*tenths) / 10.0;
            simulation::run(1, load(failing, case))
        });
        outcomes.collect::<Vec<_>>()
    });
    let lines = |value: fn(&Outcome) -> f64| {
        let line = |(case, outcomes): (&Case, &Vec<Outcome>)| {
            let points = tenths.iter().zip(outcomes);
            let points =
                points.map(|(tenths, outcome)| (10.0 * f64::from(*tenths), value(outcome)));
            Line::new(case.name, points.collect())
        };
        CASES.iter().zip(&outcomes).map(line).collect()
    };
    let place = |percent: u32| {
        let place = tenths.iter().position(|tenths| tenths * 10 == percent);
        place.expect("one of the points")
    };
    let mut figures = Vec::new();
    for (case, outcomes) in CASES.iter().zip(&outcomes) {
        let requests = outcomes[place(100)].attempts_per_call;
        let success = outcomes[place(50)].succeeded;
        figures.extend([
            Figure::new(
                case.name,
                "requests per call when all fail",
                requests,
                "",
                case.requests.clone(),
            ),
            Figure::new(
                case.name,
                "success when half fail",
                success,
                " %",
                case.success.clone(),
            ),
        ]);
    }
    Scenario {
        title: "Failure rate",
        about: format!(
            "{CLIENTS} clients make ten calls a second each for a minute. The server fails a random \
             fraction of the requests."
        ),
        plots: vec![
            Plot {
                title: "Load.",
                caption: "Once everything fails, retries multiply the requests; a budget keeps them near the \
                      number of calls, unless each of many clients has its own floor.",
                x: Axis::linear("% of requests that fail"),
                y: Axis::linear("requests for each call"),
                lines: lines(|outcome| outcome.attempts_per_call),
            },
            Plot {
                title: "Success.",
                caption: "Retries get most calls through to a server that fails half of its requests; a breaker \
                      that opens at 50 % lets nearly none through.",
                x: Axis::linear("% of requests that fail"),
                y: Axis::linear("% of calls that succeed"),
                lines: lines(|outcome| outcome.succeeded),
            },
        ],
        figures,
    }
}

async fn load(failing: f64, case: &Case) -> Outcome {
    let server = Rc::new(Unreliable {
        failing,
        chance: Chance::new(1),
        attempts: Cell::new(0),
    });
    let mut clients = JoinSet::new();
    let shared = Rc::new((case.client)());
    for nth in 0..CLIENTS {
        let server = Rc::clone(&server);
        let client = if case.is_shared {
            Rc::clone(&shared)
        } else {
            Rc::new((case.client)())
        };
        clients.spawn_local(async move {
            sleep(GAP * nth / CLIENTS).await;
            succeeded(&server, &client).await
        });
    }
    let succeeded: u32 = clients.join_all().await.into_iter().sum();
    let calls = f64::from(CLIENTS * CALLS);
    Outcome {
        attempts_per_call: f64::from(server.attempts.get()) / calls,
        succeeded: 100.0 * f64::from(succeeded) / calls,
    }
}

/// Makes one client's calls, which don't wait for each other. Returns the number of successes.
async fn succeeded(server: &Rc<Unreliable>, client: &Rc<Client>) -> u32 {
    let mut calls = JoinSet::new();
    for _ in 0..CALLS {
        let (server, client) = (Rc::clone(server), Rc::clone(client));
        calls.spawn_local(async move { client.call(&*server, RETRIES).await.is_ok() });
        sleep(GAP).await;
    }
    let calls = calls.join_all().await;
    calls.into_iter().map(u32::from).sum()
}
