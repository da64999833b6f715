//! A server that gets slower the more it has to do, and works on for clients that have left.

use std::cell::{Cell, RefCell};
use std::ops::{Range, RangeInclusive};
use std::rc::Rc;
use std::time::Duration;

use retry_runtime::{Breaker, Budget};
use tokio::task::{JoinSet, spawn_local};
use tokio::time::{Instant, sleep};

use crate::client::Client;
use crate::figure::Figure;
use crate::plot::{Axis, Line, Plot};
use crate::scenario::Scenario;
use crate::server::{Failure, Server};
use crate::simulation::{self, Chance};

const RETRIES: u32 = 2;
/// In seconds, as are all times here.
const END: u32 = 300;
/// What a point of the plots stands for.
const SPAN: u32 = 10;
/// Calls per second, but in the rush.
const RATE: f64 = 40.0;

struct Rush {
    during: Range<u32>,
    rate: f64,
}

const PEAK: Rush = Rush {
    during: 60..90,
    rate: 80.0,
};
const SPIKE: Rush = Rush {
    during: 60..65,
    rate: 120.0,
};

struct Overloaded {
    start: Instant,
    running: Rc<Cell<u32>>,
    /// When each request came.
    requests: RefCell<Vec<Duration>>,
}

impl Server for Overloaded {
    async fn answer(&self) -> Result<(), Failure> {
        self.requests.borrow_mut().push(self.start.elapsed());
        let running = Rc::clone(&self.running);
        running.set(running.get() + 1);
        let latency = Duration::from_secs(1) + Duration::from_millis(10) * running.get();
        // A task of its own goes on when the client leaves.
        let work = spawn_local(async move {
            sleep(latency).await;
            running.set(running.get() - 1);
        });
        work.await.expect("no work panics");
        Ok(())
    }
}

/// One line of the plots, and what must come out: the part of the calls that succeed, in per cent.
struct Case {
    name: &'static str,
    client: fn() -> Client,
    in_peak: RangeInclusive<f64>,
    after_peak: RangeInclusive<f64>,
    at_end: RangeInclusive<f64>,
    after_spike: RangeInclusive<f64>,
}

const ALL: RangeInclusive<f64> = 99.0..=100.0;
const MOST: RangeInclusive<f64> = 75.0..=100.0;
const SOME: RangeInclusive<f64> = 10.0..=75.0;
const HARDLY_ANY: RangeInclusive<f64> = 0.0..=5.0;

const CASES: [Case; 7] = [
    Case {
        name: "2 retries",
        client: || Client::Unprotected,
        in_peak: SOME,
        after_peak: HARDLY_ANY,
        at_end: HARDLY_ANY,
        after_spike: HARDLY_ANY,
    },
    Case {
        name: "no retries",
        client: || Client::NoRetries,
        in_peak: SOME,
        after_peak: MOST,
        at_end: ALL,
        after_spike: MOST,
    },
    Case {
        name: "budget, standard",
        client: || Client::Budget(Budget::standard()),
        in_peak: SOME,
        after_peak: MOST,
        at_end: ALL,
        after_spike: MOST,
    },
    Case {
        name: "budget, ratio 0.1",
        client: || Client::Budget(Budget::ratio(0.1)),
        in_peak: SOME,
        after_peak: MOST,
        at_end: ALL,
        after_spike: MOST,
    },
    Case {
        name: "budget, ratio 0.1 and 30 per second",
        client: || Client::Budget(Budget::ratio(0.1).per_second(30.0)),
        in_peak: SOME,
        after_peak: HARDLY_ANY,
        at_end: HARDLY_ANY,
        after_spike: HARDLY_ANY,
    },
    Case {
        name: "breaker, ratio 0.9",
        client: || Client::Breaker(Breaker::new()),
        in_peak: SOME,
        after_peak: SOME,
        at_end: ALL,
        after_spike: SOME,
    },
    Case {
        name: "breaker, ratio 0.5 of 20 in 10 s",
        client: || {
            let breaker = Breaker::new().ratio(0.5).minimum_calls(20);
            Client::Breaker(breaker.window(Duration::from_secs(10)))
        },
        in_peak: SOME,
        after_peak: MOST,
        at_end: ALL,
        after_spike: MOST,
    },
];

/// What happened to a client's calls, and to the server.
struct Outcome {
    /// When each call began, and whether it succeeded.
    calls: Vec<(Duration, bool)>,
    requests: Vec<Duration>,
}

impl Outcome {
    /// Of the calls that began then, the part that succeeded, in per cent.
    fn succeeded(&self, during: Range<u32>) -> f64 {
        let calls = self
            .calls
            .iter()
            .filter(|(began, _)| is_in(*began, &during));
        let (all, succeeded) = calls.fold((0.0, 0.0), |(all, succeeded), (_, success)| {
            (all + 1.0, succeeded + f64::from(u8::from(*success)))
        });
        100.0 * succeeded / all
    }

    fn requests_per_second(&self, during: Range<u32>) -> f64 {
        let seconds = f64::from(during.end - during.start);
        let requests = self.requests.iter().filter(|at| is_in(**at, &during));
        requests.map(|_| 1.0).sum::<f64>() / seconds
    }
}

fn is_in(moment: Duration, during: &Range<u32>) -> bool {
    (seconds(during.start)..seconds(during.end)).contains(&moment)
}

fn seconds(seconds: u32) -> Duration {
    Duration::from_secs(seconds.into())
}

pub(crate) fn run() -> Scenario {
    let [peak, spike] = [PEAK, SPIKE]
        .map(|rush| CASES.map(|case| simulation::run(1, load(&rush, (case.client)()))));
    let lines = |outcomes: &[Outcome], value: fn(&Outcome, Range<u32>) -> f64| {
        let line = |(case, outcome): (&Case, &Outcome)| {
            let spans = (0..END / SPAN).map(|nth| nth * SPAN..(nth + 1) * SPAN);
            let points = spans.map(|span| (f64::from(span.end), value(outcome, span)));
            Line::new(case.name, points.collect())
        };
        CASES.iter().zip(outcomes).map(line).collect()
    };
    let time = Axis::linear("seconds");
    let success = Axis::linear("% of calls that succeed");
    Scenario {
        title: "Collapse",
        about: String::from(
            "The server takes 1 s, and 10 ms more for each request that it works on, also for clients that \
             have left: they give up an attempt after 3 s. It can bear 40 calls a second, but not 80.",
        ),
        plots: vec![
            Plot {
                title: "80 calls a second from 60 s to 90 s: success.",
                see: "With plain retries the server never recovers, although the rush is over. All else \
                      recovers, but for the budget with a floor.",
                x: time,
                y: success,
                lines: lines(&peak, Outcome::succeeded),
            },
            Plot {
                title: "The same: load.",
                see: "Retries alone keep up three times the load of the calls.",
                x: time,
                y: Axis::linear("requests per second"),
                lines: lines(&peak, Outcome::requests_per_second),
            },
            Plot {
                title: "A spike: 120 calls a second for 5 s.",
                see: "Five seconds are enough to bring a server down for good.",
                x: time,
                y: success,
                lines: lines(&spike, Outcome::succeeded),
            },
        ],
        figures: figures(&peak, &spike),
    }
}

fn figures(peak: &[Outcome], spike: &[Outcome]) -> Vec<Figure> {
    let mut figures = Vec::new();
    for ((case, peak), spike) in CASES.iter().zip(peak).zip(spike) {
        let minute_after = |rush: &Rush| rush.during.end..rush.during.end + 60;
        let parts = [
            (
                "success in the peak",
                peak.succeeded(PEAK.during),
                &case.in_peak,
            ),
            (
                "in the minute after",
                peak.succeeded(minute_after(&PEAK)),
                &case.after_peak,
            ),
            (
                "in the last minute",
                peak.succeeded(END - 60..END),
                &case.at_end,
            ),
            (
                "in the minute after a spike",
                spike.succeeded(minute_after(&SPIKE)),
                &case.after_spike,
            ),
        ];
        for (when, succeeded, bounds) in parts {
            figures.push(Figure::new(
                case.name,
                when,
                succeeded,
                " %",
                bounds.clone(),
            ));
        }
    }
    figures
}

async fn load(rush: &Rush, client: Client) -> Outcome {
    let client = Rc::new(client);
    let chance = Chance::new(1);
    let start = Instant::now();
    let server = Rc::new(Overloaded {
        start,
        running: Rc::default(),
        requests: RefCell::default(),
    });
    let mut calls = JoinSet::new();
    // A little longer, so that the last calls that count meet the same load as the others.
    while start.elapsed() < seconds(END + SPAN) {
        let (server, client) = (Rc::clone(&server), Rc::clone(&client));
        let began = start.elapsed();
        calls.spawn_local(async move { (began, client.call(&*server, RETRIES).await.is_ok()) });
        let rate = if is_in(began, &rush.during) {
            rush.rate
        } else {
            RATE
        };
        sleep(chance.gap(rate)).await;
    }
    let calls = calls.join_all().await;
    let requests = server.requests.take();
    Outcome { calls, requests }
}
