//! A server that slows down under load, and keeps processing requests of clients that have disconnected.

use std::cell::RefCell;
use std::ops::{Range, RangeInclusive};
use std::rc::Rc;
use std::time::Duration;

use retry_protections::{Breaker, ConcurrencyLimiter};
use retry_runtime::Budget;
use tokio::time::Instant;

use crate::client::Client;
use crate::figure::Figure;
use crate::plot::{Axis, Line, Plot};
use crate::scenario::Scenario;
use crate::server::{Failure, Server};
use crate::simulation;
use crate::timeline::{self, FinishedCall, Work, is_in};

const RETRIES: u32 = 2;
/// In seconds, like all times in this module.
const END: u32 = 300;
/// Calls per second, except during the rush.
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
    work: Work,
    /// The arrival time of each request.
    requests: RefCell<Vec<Duration>>,
}

impl Server for Overloaded {
    async fn answer(&self) -> Result<(), Failure> {
        self.requests.borrow_mut().push(self.start.elapsed());
        let latency = |running| Duration::from_secs(1) + Duration::from_millis(10) * running;
        self.work.on_one_more(latency).await;
        Ok(())
    }
}

/// A line of the plots, and its expected results: the percentages of successful calls.
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

const CASES: [Case; 8] = [
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
        after_peak: MOST,
        at_end: ALL,
        after_spike: MOST,
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
    Case {
        name: "limiter, AIMD from 60 at a time, for 3 s",
        client: || {
            let limiter = ConcurrencyLimiter::aimd().start(60);
            Client::limiter(limiter.max_wait(Duration::from_secs(3)))
        },
        in_peak: 60.0..=80.0,
        after_peak: ALL,
        at_end: ALL,
        after_spike: ALL,
    },
];

struct Outcome {
    calls: Vec<FinishedCall>,
    requests: Vec<Duration>,
}

impl Outcome {
    fn success(&self, during: Range<u32>) -> f64 {
        timeline::success(&self.calls, &during)
    }

    fn load(&self, during: Range<u32>) -> f64 {
        timeline::per_second(&self.requests, &during)
    }
}

pub(crate) fn run() -> Scenario {
    let [peak, spike] = [PEAK, SPIKE]
        .map(|rush| CASES.map(|case| simulation::run(1, load(&rush, (case.client)()))));
    let lines = |outcomes: &[Outcome], value: fn(&Outcome, Range<u32>) -> f64| {
        let line = |(case, outcome): (&Case, &Outcome)| {
            Line::new(
                case.name,
                timeline::points(END, |during| value(outcome, during)),
            )
        };
        CASES.iter().zip(outcomes).map(line).collect()
    };
    let time = Axis::linear("seconds");
    let success = Axis::linear("% of calls that succeed");
    Scenario {
        title: "Collapse",
        about: String::from(
            "The server takes 1 s, and 10 ms more for each request that it is processing. It also processes requests \
             of clients that have disconnected: they give up an attempt after 3 s. It can handle 40 calls a second, \
             but not 80.",
        ),
        plots: vec![
            Plot {
                title: "80 calls a second from 60 s to 90 s: success.",
                caption: "With plain retries the server never recovers, although the rush is over. In all other cases \
                      it recovers, except for the budget with a floor.",
                x: time,
                y: success,
                lines: lines(&peak, Outcome::success),
            },
            Plot {
                title: "Load in the same rush.",
                caption: "Retries alone keep the load at three times the number of calls.",
                x: time,
                y: Axis::linear("requests per second"),
                lines: lines(&peak, Outcome::load),
            },
            Plot {
                title: "A spike: 120 calls a second for 5 s.",
                caption: "Five seconds are enough to bring a server down for good.",
                x: time,
                y: success,
                lines: lines(&spike, Outcome::success),
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
                peak.success(PEAK.during),
                &case.in_peak,
            ),
            (
                "in the minute after",
                peak.success(minute_after(&PEAK)),
                &case.after_peak,
            ),
            (
                "in the last minute",
                peak.success(END - 60..END),
                &case.at_end,
            ),
            (
                "in the minute after a spike",
                spike.success(minute_after(&SPIKE)),
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
    let server = Rc::new(Overloaded {
        start: Instant::now(),
        work: Work::default(),
        requests: RefCell::default(),
    });
    let client = Rc::new(client);
    let rate = |moment| {
        if is_in(moment, &rush.during) {
            rush.rate
        } else {
            RATE
        }
    };
    let call = || {
        let (server, client) = (Rc::clone(&server), Rc::clone(&client));
        async move { client.call(&*server, RETRIES).await }
    };
    let calls = timeline::calls(END, rate, call).await;
    let requests = server.requests.take();
    Outcome { calls, requests }
}
