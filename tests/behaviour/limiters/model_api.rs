//! A model API that takes 60 requests a minute, and 200 workers with 1,000 calls between them that all want it now.

use std::cell::{Cell, RefCell};
use std::collections::VecDeque;
use std::rc::Rc;
use std::time::Duration;

use retry_runtime::{ConcurrencyLimiter, End, Kind, Limiter, RateLimiter};
use tokio::task::LocalSet;
use tokio::time::{Instant, sleep};

use crate::limiters::{failure, millis, secs, turn};

const CALLS: u32 = 1000;
const WORKERS: u32 = 200;
const RETRIES: u32 = 3;

/// How a server counts, where 60 a minute are allowed.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Counts {
    /// A bucket of 60, of which one comes back every second.
    Bucket,
    /// The same, where refused requests take from it, too: up to 60 that are not there.
    BucketOfAll,
    /// 60 in each minute of its clock.
    Window,
    /// 60 in the minute before.
    Sliding,
}

struct Server {
    counts: Counts,
    names_the_wait: bool,
    start: Instant,
    tokens: f64,
    filled: Duration,
    taken: VecDeque<Duration>,
}

impl Server {
    /// Takes a request, or says how long to wait.
    fn takes(&mut self) -> Result<(), Option<Duration>> {
        let now = self.start.elapsed();
        let minute = |at: Duration| at.as_secs() / 60;
        let wait = match self.counts {
            Counts::Bucket | Counts::BucketOfAll => {
                let brought = now.saturating_sub(self.filled).as_secs_f64();
                self.tokens = (self.tokens + brought).min(60.0);
                self.filled = now;
                if self.tokens >= 1.0 {
                    self.tokens -= 1.0;
                    return Ok(());
                }
                if self.counts == Counts::BucketOfAll {
                    self.tokens = (self.tokens - 1.0).max(-60.0);
                }
                Duration::from_secs_f64(1.0 - self.tokens)
            }
            Counts::Window => {
                self.taken.retain(|at| minute(*at) == minute(now));
                secs(60 * (minute(now) + 1)).saturating_sub(now)
            }
            Counts::Sliding => {
                self.taken.retain(|at| *at + secs(60) > now);
                let first = self.taken.front().map_or(now, |first| *first);
                (first + secs(60)).saturating_sub(now)
            }
        };
        let is_bucket = matches!(self.counts, Counts::Bucket | Counts::BucketOfAll);
        if !is_bucket && self.taken.len() < 60 {
            self.taken.push_back(now);
            return Ok(());
        }
        // In whole seconds, as `Retry-After` has it.
        let seconds = Duration::from_secs_f64(wait.as_secs_f64().ceil());
        Err(self.names_the_wait.then_some(seconds))
    }
}

#[derive(Debug, Default)]
struct Outcome {
    refused: Cell<u32>,
    failed: Cell<u32>,
    took: Cell<Duration>,
}

fn add(to: &Cell<u32>) {
    to.set(to.get() + 1);
}

async fn run<L: Limiter + 'static>(
    limiter: L,
    counts: Counts,
    names_the_wait: bool,
) -> Rc<Outcome> {
    let start = Instant::now();
    let server = Rc::new(RefCell::new(Server {
        counts,
        names_the_wait,
        start,
        tokens: 60.0,
        filled: Duration::ZERO,
        taken: VecDeque::new(),
    }));
    let outcome = Rc::new(Outcome::default());
    let (limiter, left) = (Rc::new(limiter), Rc::new(Cell::new(CALLS)));
    let workers = LocalSet::new();
    for worker in 0..WORKERS {
        let (server, outcome) = (Rc::clone(&server), Rc::clone(&outcome));
        let (limiter, left) = (Rc::clone(&limiter), Rc::clone(&left));
        workers.spawn_local(async move {
            let mut random = worker;
            while let Some(rest) = left.get().checked_sub(1) {
                left.set(rest);
                for retries in 0..=RETRIES {
                    let ticket = turn(&*limiter, 1).await;
                    sleep(millis(20)).await;
                    let answer = server.borrow_mut().takes();
                    random = random.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
                    let random = u64::from(random >> 16);
                    let Err(hint) = answer else {
                        sleep(millis(300 + random % 400)).await;
                        limiter.leave(ticket, End::Success);
                        break;
                    };
                    sleep(millis(20)).await;
                    limiter.leave(ticket, failure(Kind::Throttled, hint));
                    add(&outcome.refused);
                    if retries == RETRIES {
                        add(&outcome.failed);
                    } else {
                        let jitter = millis(random % (1000 << retries));
                        sleep(hint.unwrap_or_default() + jitter).await;
                    }
                }
            }
        });
    }
    workers.await;
    outcome.took.set(start.elapsed());
    outcome
}

const SERVERS: [(Counts, bool); 8] = [
    (Counts::Bucket, true),
    (Counts::Bucket, false),
    (Counts::BucketOfAll, true),
    (Counts::BucketOfAll, false),
    (Counts::Window, true),
    (Counts::Window, false),
    (Counts::Sliding, true),
    (Counts::Sliding, false),
];

/// No call fails, hardly anything is refused beyond the 140 of the first moment, and it takes little longer than the
/// 940 seconds that it must.
#[tokio::test(start_paused = true)]
async fn an_adaptive_rate_has_hardly_any_refusals() {
    for (counts, names_the_wait) in SERVERS {
        let outcome = run(RateLimiter::adaptive(), counts, names_the_wait).await;
        let what = format!("{counts:?}, {names_the_wait}: {outcome:?}");
        assert_eq!(outcome.failed.get(), 0, "{what}");
        assert!(outcome.refused.get() <= 240, "{what}");
        assert!(outcome.took.get() < secs(1080), "{what}");
    }
}

/// A known rate has none, but for a slight misfit of clocks.
#[tokio::test(start_paused = true)]
async fn a_known_rate_has_no_refusals() {
    for (counts, _) in SERVERS.into_iter().step_by(2) {
        let outcome = run(RateLimiter::quota(60, u32::MAX), counts, true).await;
        assert!(outcome.refused.get() <= 2, "{counts:?}: {outcome:?}");
        assert!(outcome.took.get() < secs(1005), "{counts:?}: {outcome:?}");
    }
}

/// Others have far more, where an adaptive rate has 163: fewer at a time is not fewer per second.
#[tokio::test(start_paused = true)]
async fn fewer_at_a_time_is_not_enough() {
    let outcome = run(ConcurrencyLimiter::aimd(), Counts::Bucket, true).await;
    assert!(outcome.refused.get() > 280, "{outcome:?}");
    let outcome = run(RateLimiter::cubic(), Counts::Bucket, true).await;
    assert!(outcome.refused.get() > 500, "{outcome:?}");
}
