//! A model API that accepts 60 requests a minute, and 200 workers that make 1,000 calls in all, as soon as possible.

use support::prelude::*;
use tokio::task::LocalSet;

use crate::limiters::{millis, secs};

const CALLS: u32 = 1000;
const WORKERS: u64 = 200;

/// A server's rule for a limit of 60 requests a minute.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Counts {
    /// A bucket of 60 that gains one every second.
    Bucket,
    /// The same, but rejected requests also take from it, up to a debt of 60.
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
    state: RefCell<State>,
    refused: Cell<u32>,
}

struct State {
    tokens: f64,
    filled: Duration,
    taken: VecDeque<Duration>,
}

/// A rejection with the wait that the server asks for.
#[derive(Debug)]
struct Refused(Option<Duration>);

impl Classify for Refused {
    fn classify(&self) -> Verdict {
        let verdict = Verdict::THROTTLED;
        self.0.map_or(verdict, |hint| verdict.after(hint))
    }
}

impl From<Rejected> for Refused {
    fn from(rejected: Rejected) -> Self {
        panic!("{rejected}")
    }
}

impl Server {
    /// Returns the time until there is room for another request. If there is room now, takes it.
    fn wait(&self) -> Duration {
        let now = self.start.elapsed();
        let minute = |at: Duration| at.as_secs() / 60;
        let mut state = self.state.borrow_mut();
        let state = &mut *state;
        let wait = match self.counts {
            Counts::Bucket | Counts::BucketOfAll => {
                let brought = now.saturating_sub(state.filled).as_secs_f64();
                state.tokens = (state.tokens + brought).min(60.0);
                state.filled = now;
                if state.tokens >= 1.0 {
                    state.tokens -= 1.0;
                    return Duration::ZERO;
                }
                if self.counts == Counts::BucketOfAll {
                    state.tokens = (state.tokens - 1.0).max(-60.0);
                }
                return Duration::from_secs_f64(1.0 - state.tokens);
            }
            Counts::Window => {
                state.taken.retain(|at| minute(*at) == minute(now));
                secs(60 * (minute(now) + 1))
            }
            Counts::Sliding => {
                state.taken.retain(|at| *at + secs(60) > now);
                let first = state.taken.front().map_or(now, |first| *first);
                first + secs(60)
            }
        };
        if state.taken.len() < 60 {
            state.taken.push_back(now);
            return Duration::ZERO;
        }
        wait.saturating_sub(now)
    }

    async fn answer(&self, takes: Duration) -> Result<(), Refused> {
        sleep(millis(20)).await;
        let wait = self.wait();
        if wait.is_zero() {
            sleep(takes).await;
            return Ok(());
        }
        self.refused.set(self.refused.get() + 1);
        // In whole seconds, like `Retry-After`.
        let seconds = Duration::from_secs_f64(wait.as_secs_f64().ceil());
        Err(Refused(self.names_the_wait.then_some(seconds)))
    }
}

#[retry(limiter = limiter)]
async fn complete(
    limiter: &impl AdmissionControl,
    server: &Server,
    takes: Duration,
) -> Result<(), Refused> {
    server.answer(takes).await
}

#[derive(Debug)]
struct Outcome {
    refused: u32,
    failed: u32,
    took: Duration,
}

async fn run<L: AdmissionControl + 'static>(
    limiter: L,
    counts: Counts,
    names_the_wait: bool,
) -> Outcome {
    let _seeded = testing::seed(1);
    let server = Rc::new(Server {
        counts,
        names_the_wait,
        start: Instant::now(),
        state: RefCell::new(State {
            tokens: 60.0,
            filled: Duration::ZERO,
            taken: VecDeque::new(),
        }),
        refused: Cell::new(0),
    });
    let limiter = Rc::new(limiter);
    let (left, failed) = (Rc::new(Cell::new(CALLS)), Rc::new(Cell::new(0)));
    let workers = LocalSet::new();
    for worker in 0..WORKERS {
        let (server, limiter) = (Rc::clone(&server), Rc::clone(&limiter));
        let (left, failed) = (Rc::clone(&left), Rc::clone(&failed));
        workers.spawn_local(async move {
            while let Some(rest) = left.get().checked_sub(1) {
                left.set(rest);
                let takes = millis(300 + (worker * 7 + u64::from(rest) * 13) % 400);
                if complete(&limiter, &server, takes).await.is_err() {
                    failed.set(failed.get() + 1);
                }
            }
        });
    }
    workers.await;
    Outcome {
        refused: server.refused.get(),
        failed: failed.get(),
        took: server.start.elapsed(),
    }
}

const SERVERS: [Counts; 4] = [
    Counts::Bucket,
    Counts::BucketOfAll,
    Counts::Window,
    Counts::Sliding,
];

/// No call fails, hardly anything is refused beyond the 140 of the first moment, and it takes little longer than the
/// 940 seconds that it must.
#[tokio::test(start_paused = true)]
async fn an_adaptive_rate_has_hardly_any_refusals() {
    let servers = SERVERS
        .into_iter()
        .flat_map(|counts| [(counts, true), (counts, false)]);
    for (counts, names_the_wait) in servers {
        let outcome = run(RateLimiter::adaptive(), counts, names_the_wait).await;
        let what = format!("{counts:?}, {names_the_wait}: {outcome:?}");
        assert_eq!(outcome.failed, 0, "{what}");
        assert!(outcome.refused <= 240, "{what}");
        assert!(outcome.took < secs(1080), "{what}");
    }
}

/// With a known rate there are no rejections, except for slight differences of clocks.
#[tokio::test(start_paused = true)]
async fn a_known_rate_has_no_rejections() {
    for counts in SERVERS {
        let outcome = run(RateLimiter::quota(60, u32::MAX), counts, true).await;
        assert!(outcome.refused <= 2, "{counts:?}: {outcome:?}");
        assert!(outcome.took < secs(1005), "{counts:?}: {outcome:?}");
    }
}

/// There are far more rejections than the 163 of an adaptive rate: a limit on concurrency doesn't limit the rate.
#[tokio::test(start_paused = true)]
async fn fewer_at_a_time_is_not_enough() {
    let outcome = run(ConcurrencyLimiter::aimd(), Counts::Bucket, true).await;
    assert!(outcome.refused > 280, "{outcome:?}");
}
