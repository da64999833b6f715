//! Calls that retry without delay, in each form. Each call waits for a server that one of the page's timers starts, so
//! it ends only if timers run between the attempts.

use std::cell::Cell;
use std::future::{Ready, pending, ready};
use std::rc::Rc;
use std::time::Duration;

use futures_util::future::LocalBoxFuture;
use futures_util::stream::{self, Stream, StreamExt};
use gloo_timers::callback::Timeout;
use retry_protections::{Quota, RateLimiter};
use retry_runtime::seam::TimerFn;
use retry_runtime::{Policy, retry, retrying};
use retry_work::plan::{PlanEnd, Validity};
use retry_work::{Plan, retry_each};

use super::AnyError;

type Outcome = Result<(), AnyError>;

/// The name of each form, and a function that makes its call.
pub const FORMS: [(&str, for<'a> fn(&'a Server) -> LocalBoxFuture<'a, Outcome>); 12] = [
    ("attribute", |server| Box::pin(attribute(server))),
    ("expression", |server| Box::pin(expression(server))),
    ("cancel", |server| Box::pin(cancellable(server))),
    ("timer", |server| Box::pin(timed(server))),
    ("cancel-timer", |server| Box::pin(cancellable_timed(server))),
    ("stream", |server| Box::pin(streamed(server))),
    ("correct", |server| Box::pin(corrected(server))),
    ("chain", |server| Box::pin(chained(server))),
    ("chain-timer", |server| Box::pin(chained_timed(server))),
    ("batch", |server| Box::pin(batch(server))),
    ("plan", |server| Box::pin(plan(server))),
    ("limiter", |server| Box::pin(limited(server))),
];

const AT_ONCE: Policy = Policy::none().max(u32::MAX);

/// Simulates a server that is down until a timer of the page fires after 50 ms.
pub struct Server {
    is_up: Rc<Cell<bool>>,
    _starts: Timeout,
}

impl Server {
    pub fn new() -> Self {
        let is_up = Rc::new(Cell::new(false));
        let up = Rc::clone(&is_up);
        Self {
            is_up,
            _starts: Timeout::new(50, move || up.set(true)),
        }
    }

    fn answer(&self) -> Outcome {
        self.is_up.get().then_some(()).ok_or_else(|| "down".into())
    }
}

/// A timer whose sleeps are over at once.
fn at_once(_: Duration) -> Ready<()> {
    ready(())
}

#[retry(max = "unlimited", backoff = "none", on = |_| true)]
async fn attribute(server: &Server) -> Outcome {
    server.answer()
}

async fn expression(server: &Server) -> Outcome {
    retrying!(max = "unlimited", backoff = "none", on = |_| true, async {
        server.answer()
    })
    .await
}

#[retry(max = "unlimited", backoff = "none", cancel = pending::<()>(), on = |_| true)]
async fn cancellable(server: &Server) -> Outcome {
    server.answer()
}

#[retry(max = "unlimited", timer = at_once, on = |_| true)]
async fn timed(server: &Server) -> Outcome {
    server.answer()
}

#[retry(max = "unlimited", timer = at_once, cancel = pending::<()>(), on = |_| true)]
async fn cancellable_timed(server: &Server) -> Outcome {
    server.answer()
}

async fn streamed(server: &Server) -> Outcome {
    #[retry(stream = "first", max = "unlimited", backoff = "none", on = |_| true)]
    fn items(server: &Server) -> impl Stream<Item = Outcome> {
        stream::iter([server.answer()])
    }

    let mut items = Box::pin(items(server));
    items.next().await.expect("an item")
}

#[retry(
    max = "unlimited",
    backoff = "none",
    on = |_| true,
    validate = |_| server.answer(),
    correct = async |(), _| Ok(())
)]
async fn corrected(server: &Server) -> Outcome {
    Ok(())
}

async fn chained(server: &Server) -> Outcome {
    let chain = AT_ONCE.on(|_: &AnyError| true);
    chain.call(async || server.answer()).await
}

async fn chained_timed(server: &Server) -> Outcome {
    let chain = AT_ONCE.on(|_: &AnyError| true).timer(TimerFn::new(at_once));
    chain.call(async || server.answer()).await
}

async fn batch(server: &Server) -> Outcome {
    let chain = AT_ONCE.on(|_: &AnyError| true).timer(TimerFn::new(at_once));
    let results = retry_each(chain, [()], async |_| Ok(vec![server.answer()])).await;
    let mut results = results.into_iter();
    let result = results.next().expect("a result");
    result.map_err(|error| error.to_string().into())
}

async fn plan(server: &Server) -> Outcome {
    let chain = AT_ONCE.on(|_: &AnyError| true).timer(TimerFn::new(at_once));
    let mut plan = Plan::local();
    plan.add("ask", [], async |[]| server.answer());
    let end = plan.run_until(chain, async |results| {
        if results.summary().is_complete() {
            Validity::Valid
        } else {
            Validity::Invalid(String::from("down"))
        }
    });
    match end.await? {
        PlanEnd::Valid => Ok(()),
        end => Err(end.to_string().into()),
    }
}

/// The wait for a limiter's turn, with a timer that doesn't wait.
async fn limited(server: &Server) -> Outcome {
    let limiter: RateLimiter<Quota> = RateLimiter::fixed(1, Duration::from_secs(1)).burst(1);
    let chain = Policy::none().max(0).on(|_: &AnyError| true);
    let chain = chain.limiter(&limiter).timer(TimerFn::new(at_once));
    chain.call(async || Ok(())).await?;
    chain.call(async || server.answer()).await
}
