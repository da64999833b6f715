//! Calls and requests by their start time.

use std::cell::Cell;
use std::ops::Range;
use std::rc::Rc;
use std::time::Duration;

use tokio::task::{JoinSet, spawn_local};
use tokio::time::{Instant, sleep};

use crate::server::Failure;
use crate::simulation::Chance;

/// The time that a point of a plot covers, in seconds.
const SPAN: u32 = 10;

/// A call that is over.
#[derive(Clone, Copy)]
pub(crate) struct FinishedCall {
    /// The time since the start of the simulation.
    pub(crate) began: Duration,
    pub(crate) took: Duration,
    pub(crate) is_success: bool,
}

impl FinishedCall {
    /// Awaits the call.
    pub(crate) async fn of(
        start: Instant,
        call: impl Future<Output = Result<(), Failure>>,
    ) -> Self {
        let began = start.elapsed();
        let is_success = call.await.is_ok();
        Self {
            began,
            took: start.elapsed().saturating_sub(began),
            is_success,
        }
    }
}

/// Makes calls at random times, on average `rate` per second at each time. They don't wait for each other.
pub(crate) async fn calls<C>(
    seconds: u32,
    rate: impl Fn(Duration) -> f64,
    call: impl Fn() -> C,
) -> Vec<FinishedCall>
where
    C: Future<Output = Result<(), Failure>> + 'static,
{
    let chance = Chance::new(2);
    let start = Instant::now();
    let mut calls = JoinSet::new();
    // Continue a little longer, so that the last measured calls have the same load as the others.
    while start.elapsed() < Duration::from_secs((seconds + SPAN).into()) {
        calls.spawn_local(FinishedCall::of(start, call()));
        sleep(chance.gap(rate(start.elapsed()))).await;
    }
    calls.join_all().await
}

/// The requests that a server is processing, including those of clients that have disconnected.
#[derive(Default)]
pub(crate) struct Work(Rc<Cell<u32>>);

impl Work {
    /// Processes one more request. Its latency depends on the number of requests at its start.
    pub(crate) async fn on_one_more(&self, latency: impl FnOnce(u32) -> Duration) {
        let running = Rc::clone(&self.0);
        running.set(running.get() + 1);
        let latency = latency(running.get());
        // A separate task continues when the client disconnects.
        let work = spawn_local(async move {
            sleep(latency).await;
            running.set(running.get() - 1);
        });
        work.await.expect("no work panics");
    }
}

/// Returns true if the moment is within these seconds.
pub(crate) fn is_in(moment: Duration, seconds: &Range<u32>) -> bool {
    let second = moment.as_secs_f64();
    f64::from(seconds.start) <= second && second < f64::from(seconds.end)
}

/// Returns the points of a line. `value` computes the value of a range of seconds.
pub(crate) fn points(seconds: u32, value: impl Fn(Range<u32>) -> f64) -> Vec<(f64, f64)> {
    let spans = (0..seconds / SPAN).map(|nth| nth * SPAN..(nth + 1) * SPAN);
    spans
        .map(|span| (f64::from(span.end), value(span)))
        .collect()
}

/// Returns the percentage of successes among the calls that started in this time.
pub(crate) fn success(calls: &[FinishedCall], during: &Range<u32>) -> f64 {
    let calls = calls.iter().filter(|call| is_in(call.began, during));
    let (all, succeeded) = calls.fold((0.0, 0.0), |(all, succeeded), call| {
        (all + 1.0, succeeded + f64::from(u8::from(call.is_success)))
    });
    100.0 * succeeded / all
}

/// Returns the number of moments per second in this time.
pub(crate) fn per_second(moments: &[Duration], during: &Range<u32>) -> f64 {
    let moments = moments.iter().filter(|moment| is_in(**moment, during));
    moments.fold(0.0, |count, _| count + 1.0) / f64::from(during.end - during.start)
}
