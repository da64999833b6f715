//! A report from several pages of a server that is often busy: as a plan, and as one function that restarts from the
//! beginning.

use std::cell::Cell;
use std::sync::Arc;
use std::time::Duration;

use retry_runtime::{Jitter, Policy, retry};
use retry_work::Plan;
use retry_work::plan::{Local, Validity};
use tokio::time::sleep;

use crate::figure::Figure;
use crate::scenario::Scenario;
use crate::simulation::{self, Chance};

const REPORTS: u32 = 2_000;
const BUSY: f64 = 0.25;
const POLICY: Policy = Policy::fixed(Duration::from_secs(1))
    .jitter(Jitter::None)
    .max(1_000);

/// The subtasks and their dependencies. Each makes one request.
const SUBTASKS: [(&str, &[&str]); 8] = [
    ("search", &[]),
    ("read 1", &["search"]),
    ("label 1", &["read 1"]),
    ("read 2", &["search"]),
    ("label 2", &["read 2"]),
    ("read 3", &["search"]),
    ("label 3", &["read 3"]),
    ("report", &["label 1", "label 2", "label 3"]),
];

type Busy = &'static str;
type Report<'a> = Plan<'a, (), Busy, Local<'a, (), Busy>>;

struct Server {
    chance: Chance,
    requests: Cell<u32>,
}

impl Server {
    fn new() -> Self {
        Self {
            chance: Chance::new(1),
            requests: Cell::new(0),
        }
    }

    async fn answer(&self) -> Result<(), Busy> {
        sleep(Duration::from_millis(100)).await;
        self.requests.set(self.requests.get() + 1);
        if self.chance.happens(BUSY) {
            return Err("503 busy");
        }
        Ok(())
    }

    fn requests_for_each(&self) -> f64 {
        f64::from(self.requests.get()) / f64::from(REPORTS)
    }
}

fn report(server: &Server) -> Report<'_> {
    let mut plan = Plan::local();
    for (name, after) in SUBTASKS {
        plan.add(name, after.to_vec(), async |_: Vec<Arc<()>>| {
            server.answer().await
        });
    }
    plan
}

async fn complete(mut plan: Report<'_>) {
    let policy = POLICY.on(|_: &Busy| true);
    let end = plan.run_until(policy, async |results| match results.output("report") {
        Some(()) => Validity::Valid,
        None => Validity::Invalid(String::from("no report")),
    });
    let end = end.await.expect("a plan that can run");
    assert!(end.is_valid(), "{end}");
}

#[retry(policy = POLICY, on = |_| true)]
async fn all_over_again(server: &Server) -> Result<(), Busy> {
    for _ in SUBTASKS {
        server.answer().await?;
    }
    Ok(())
}

pub(crate) fn run() -> Scenario {
    let as_plan = simulation::run(1, async {
        let server = Server::new();
        for _ in 0..REPORTS {
            complete(report(&server)).await;
        }
        server.requests_for_each()
    });
    let restarted = simulation::run(1, async {
        let server = Server::new();
        for _ in 0..REPORTS {
            all_over_again(&server).await.expect("not always busy");
        }
        server.requests_for_each()
    });
    let figure = |case, requests, bounds| {
        Figure::new(case, "requests for each report", requests, "", bounds)
    };
    Scenario {
        title: "A plan of subtasks",
        about: format!(
            "A report takes {} requests, and the server is busy for one in four. A plan retries the failed \
             subtasks, and keeps the others.",
            SUBTASKS.len()
        ),
        plots: Vec::new(),
        figures: vec![
            figure("as a plan", as_plan, 10.0..=11.5),
            figure("all over again", restarted, 32.0..=41.0),
        ],
    }
}
