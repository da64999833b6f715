//! Clients that all update the same row. Only one succeeds at a time.
//!
//! The model is that of [Exponential Backoff And Jitter][aws]: optimistic concurrency control over a network.
//!
//! [aws]: https://aws.amazon.com/blogs/architecture/exponential-backoff-and-jitter/

use std::cell::Cell;
use std::ops::RangeInclusive;
use std::rc::Rc;
use std::time::Duration;

use retry_runtime::{Jitter, Policy, retry};
use tokio::task::JoinSet;
use tokio::time::{Instant, sleep};

use crate::figure::Figure;
use crate::plot::{Axis, Line, Plot};
use crate::scenario::{Extent, Scenario};
use crate::simulation::{self, Chance};

/// The number of runs that are averaged.
const RUNS: u32 = 10;
const CLIENTS: u32 = 100;
const HOP: Duration = Duration::from_millis(10);
const HOP_DEVIATION: Duration = Duration::from_millis(2);
const POLICY: Policy = Policy::new()
    .max(u32::MAX)
    .base(Duration::from_millis(5))
    .cap(Duration::from_secs(2));
/// A line of the plots, and its expected results for [`CLIENTS`].
struct Case {
    name: &'static str,
    jitter: Jitter,
    writes: RangeInclusive<f64>,
    seconds: RangeInclusive<f64>,
}

const CASES: [Case; 4] = [
    Case {
        name: "no jitter",
        jitter: Jitter::None,
        writes: 1_600.0..=2_300.0,
        seconds: 40.0..=90.0,
    },
    Case {
        name: "full jitter",
        jitter: Jitter::Full,
        writes: 100.0..=950.0,
        seconds: 2.0..=6.0,
    },
    Case {
        name: "equal jitter",
        jitter: Jitter::Equal,
        writes: 100.0..=1_000.0,
        seconds: 2.0..=8.0,
    },
    Case {
        name: "decorrelated jitter",
        jitter: Jitter::Decorrelated,
        writes: 100.0..=1_100.0,
        seconds: 2.0..=5.5,
    },
];

struct Conflict;

struct Row {
    version: Cell<u32>,
    writes: Cell<u32>,
    network: Chance,
}

impl Row {
    #[retry(policy = POLICY.jitter(jitter), on = |_| true)]
    async fn update(&self, jitter: Jitter) -> Result<(), Conflict> {
        let seen = self.request(|| self.version.get()).await;
        self.request(|| self.write(seen)).await
    }

    fn write(&self, seen: u32) -> Result<(), Conflict> {
        self.writes.set(self.writes.get() + 1);
        if self.version.get() != seen {
            return Err(Conflict);
        }
        self.version.set(seen + 1);
        Ok(())
    }

    async fn request<T>(&self, served: impl FnOnce() -> T) -> T {
        self.hop().await;
        let answer = served();
        self.hop().await;
        answer
    }

    async fn hop(&self) {
        sleep(self.network.normal(HOP, HOP_DEVIATION)).await;
    }
}

/// The average numbers of writes and of seconds until all clients succeeded.
#[derive(Clone, Copy)]
struct Effort {
    writes: f64,
    seconds: f64,
}

pub(crate) fn run(extent: Extent) -> Scenario {
    let clients: Vec<u32> = match extent {
        Extent::Whole => (10..=190).step_by(30).collect(),
        Extent::Short => vec![10, CLIENTS],
    };
    let efforts = CASES.each_ref().map(|case| {
        let efforts = clients.iter().map(|clients| effort(*clients, case.jitter));
        efforts.collect::<Vec<_>>()
    });
    let lines = |value: fn(&Effort) -> f64| {
        let line = |(case, efforts): (&Case, &Vec<Effort>)| {
            let points = clients.iter().zip(efforts);
            let points = points.map(|(clients, effort)| (f64::from(*clients), value(effort)));
            Line::new(case.name, points.collect())
        };
        CASES.iter().zip(&efforts).map(line).collect()
    };
    let place = clients.iter().position(|clients| *clients == CLIENTS);
    let place = place.expect("one of the points");
    let mut figures = Vec::new();
    for (case, efforts) in CASES.iter().zip(&efforts) {
        let Effort { writes, seconds } = efforts[place];
        figures.extend([
            Figure::new(
                case.name,
                "writes of 100 clients",
                writes,
                "",
                case.writes.clone(),
            ),
            Figure::new(case.name, "time", seconds, " s", case.seconds.clone()),
        ]);
    }
    Scenario {
        title: "Contention",
        about: String::from(
            "Clients read a row and write it back, 10 ms from the server. A write fails if the row has \
             changed since it was read. base = 5 ms, cap = 2 s, no limit to the retries; averages of ten runs.",
        ),
        plots: vec![
            Plot {
                title: "Work for the server.",
                caption: "Without jitter, clients that collide once collide again and again.",
                x: Axis::linear("clients"),
                y: Axis::linear("writes until all have succeeded"),
                lines: lines(|effort| effort.writes),
            },
            Plot {
                title: "Time until all clients have succeeded.",
                caption: "Full and decorrelated jitter finish first.",
                x: Axis::linear("clients"),
                y: Axis::logarithmic("seconds"),
                lines: lines(|effort| effort.seconds),
            },
        ],
        figures,
    }
}

fn effort(clients: u32, jitter: Jitter) -> Effort {
    let efforts =
        (0..RUNS).map(|seed| simulation::run(seed.into(), contend(clients, jitter, seed)));
    let (writes, seconds) = efforts.fold((0.0, 0.0), |(writes, seconds), one| {
        (writes + one.writes, seconds + one.seconds)
    });
    Effort {
        writes: writes / f64::from(RUNS),
        seconds: seconds / f64::from(RUNS),
    }
}

async fn contend(clients: u32, jitter: Jitter, seed: u32) -> Effort {
    let row = Rc::new(Row {
        version: Cell::new(0),
        writes: Cell::new(0),
        network: Chance::new(seed.into()),
    });
    let start = Instant::now();
    let mut updates = JoinSet::new();
    for _ in 0..clients {
        let row = Rc::clone(&row);
        updates.spawn_local(async move { row.update(jitter).await.is_ok() });
    }
    updates.join_all().await;
    Effort {
        writes: row.writes.get().into(),
        seconds: start.elapsed().as_secs_f64(),
    }
}
