//! A server that fails a part of its requests, from none to all.

use std::cell::Cell;
use std::rc::Rc;
use std::time::Duration;

use retry_runtime::{Breaker, Budget};
use tokio::task::JoinSet;
use tokio::time::sleep;

use crate::client::Client;
use crate::figure::Figure;
use crate::plot::{Axis, Line, Plot};
use crate::scenario::{Extent, Scenario};
use crate::server::{Failure, Server};
use crate::simulation::{self, Chance};

const CLIENTS: u32 = 100;
/// Of each client.
const CALLS: u32 = 600;
const GAP: Duration = Duration::from_millis(100);
const RETRIES: u32 = 3;
const LATENCY: Duration = Duration::from_millis(10);

struct Unreliable {
    /// From 0 to 1.
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

/// What a line of the plots is about.
struct Fleet {
    name: &'static str,
    client: fn() -> Client,
    /// Whether all clients share what protects the server, as tasks of one process, or each has its own.
    is_shared: bool,
}

const FLEETS: [Fleet; 7] = [
    Fleet::sharing("3 retries", || Client::Unprotected),
    Fleet::sharing("no retries", || Client::NoRetries),
    Fleet::sharing("budget, standard", || Client::Budget(Budget::standard())),
    Fleet::sharing("budget, ratio 0.1", || Client::Budget(Budget::ratio(0.1))),
    Fleet {
        name: "budget, ratio 0.1 and 10 per second, for each client",
        client: || Client::Budget(Budget::ratio(0.1).per_second(10.0)),
        is_shared: false,
    },
    Fleet::sharing("breaker, ratio 0.5", || {
        Client::Breaker(Breaker::new().ratio(0.5))
    }),
    Fleet::sharing("breaker, ratio 0.9", || Client::Breaker(Breaker::new())),
];

impl Fleet {
    const fn sharing(name: &'static str, client: fn() -> Client) -> Self {
        Self {
            name,
            client,
            is_shared: true,
        }
    }
}

/// Of all calls of a fleet.
#[derive(Clone, Copy)]
struct Outcome {
    attempts_per_call: f64,
    /// In per cent.
    succeeded: f64,
}

pub(crate) fn run(extent: Extent) -> Scenario {
    let tenths: Vec<u32> = match extent {
        Extent::Whole => (0..=10).collect(),
        Extent::Short => vec![0, 5, 10],
    };
    let outcomes = FLEETS.each_ref().map(|fleet| {
        let outcomes = tenths.iter().map(|tenths| {
            let failing = f64::from(*tenths) / 10.0;
            simulation::run(1, load(failing, fleet))
        });
        outcomes.collect::<Vec<_>>()
    });
    let lines = |value: fn(&Outcome) -> f64| {
        let line = |(fleet, outcomes): (&Fleet, &Vec<Outcome>)| {
            let points = tenths.iter().zip(outcomes);
            let points =
                points.map(|(tenths, outcome)| (10.0 * f64::from(*tenths), value(outcome)));
            Line::new(fleet.name, points.collect())
        };
        FLEETS.iter().zip(&outcomes).map(line).collect()
    };
    let at = |percent: u32| {
        let place = tenths.iter().position(|tenths| tenths * 10 == percent);
        let place = place.expect("one of the points");
        outcomes.each_ref().map(|outcomes| outcomes[place])
    };
    let [retries, none, standard, ratio, floor, _, breaker] =
        at(100).map(|down| down.attempts_per_call);
    let [half_retries, .., at_half, at_nine] = at(50).map(|half| half.succeeded);
    Scenario {
        title: "Failure rate",
        about: format!(
            "{CLIENTS} clients make ten calls a second each for a minute. The server fails a part of the \
             requests, at random."
        ),
        plots: vec![
            Plot {
                title: "Load.",
                see: "Once everything fails, retries multiply the requests; a budget keeps them near the \
                      number of calls, unless each of many clients has a floor of its own.",
                x: Axis::linear("% of requests that fail"),
                y: Axis::linear("requests for each call"),
                lines: lines(|outcome| outcome.attempts_per_call),
            },
            Plot {
                title: "Success.",
                see: "Retries get most calls through to a server that fails half of its requests; a breaker \
                      that opens at 50 % lets nearly none through.",
                x: Axis::linear("% of requests that fail"),
                y: Axis::linear("% of calls that succeed"),
                lines: lines(|outcome| outcome.succeeded),
            },
        ],
        figures: vec![
            Figure::new(
                "requests per call when all fail, 3 retries",
                retries,
                "",
                4.0..=4.0,
            ),
            Figure::new("requests, no retries", none, "", 1.0..=1.0),
            Figure::new("requests, budget, standard", standard, "", ..=1.001),
            Figure::new("requests, budget, ratio 0.1", ratio, "", ..=1.11),
            Figure::new("requests, 10 per second for each client", floor, "", 2.0..),
            Figure::new("requests, breaker, ratio 0.9", breaker, "", ..=0.01),
            Figure::new(
                "success when half fail, 3 retries",
                half_retries,
                " %",
                93.0..,
            ),
            Figure::new("success, breaker, ratio 0.9", at_nine, " %", 93.0..),
            Figure::new("success, breaker, ratio 0.5", at_half, " %", ..=5.0),
        ],
    }
}

async fn load(failing: f64, fleet: &Fleet) -> Outcome {
    let server = Rc::new(Unreliable {
        failing,
        chance: Chance::new(1),
        attempts: Cell::new(0),
    });
    let mut clients = JoinSet::new();
    let shared = Rc::new((fleet.client)());
    for nth in 0..CLIENTS {
        let server = Rc::clone(&server);
        let client = if fleet.is_shared {
            Rc::clone(&shared)
        } else {
            Rc::new((fleet.client)())
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

/// One client's calls. They don't wait for each other.
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
