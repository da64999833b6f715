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
    tokens: f64,
    filled: Duration,
    taken: VecDeque<Duration>,
    refused: u32,
    answered: u32,
}

impl Server {
    /// Returns the time until there is room for another request. If there is room now, takes it.
    fn wait(&mut self) -> Duration {
        let now = self.start.elapsed();
        let minute = |at: Duration| at.as_secs() / 60;
        let wait = match self.counts {
            Counts::Bucket | Counts::BucketOfAll => {
                let brought = now.saturating_sub(self.filled).as_secs_f64();
                self.tokens = (self.tokens + brought).min(60.0);
                self.filled = now;
                if self.tokens >= 1.0 {
                    self.tokens -= 1.0;
                    return Duration::ZERO;
                }
                if self.counts == Counts::BucketOfAll {
                    self.tokens = (self.tokens - 1.0).max(-60.0);
                }
                return Duration::from_secs_f64(1.0 - self.tokens);
            }
            Counts::Window => {
                self.taken.retain(|at| minute(*at) == minute(now));
                secs(60 * (minute(now) + 1))
            }
            Counts::Sliding => {
                self.taken.retain(|at| *at + secs(60) > now);
                let first = self.taken.front().map_or(now, |first| *first);
                first + secs(60)
            }
        };
        if self.taken.len() < 60 {
            self.taken.push_back(now);
            return Duration::ZERO;
        }
        wait.saturating_sub(now)
    }

    /// Refuses a request, with the wait in whole seconds, like `Retry-After`.
    fn refuse(&mut self, wait: Duration) -> Failure {
        self.refused += 1;
        let seconds = Duration::from_secs_f64(wait.as_secs_f64().ceil());
        if self.names_the_wait {
            throttled_for(seconds)
        } else {
            THROTTLED
        }
    }
}

scripted! {
    #[retry(limiter = limiter)]
    async fn complete(limiter: &RateLimiter, server: &RefCell<Server>, takes: Duration) = {
        sleep(millis(20)).await;
        let wait = server.borrow_mut().wait();
        if !wait.is_zero() {
            return Err(server.borrow_mut().refuse(wait));
        }
        sleep(takes).await;
        server.borrow_mut().answered += 1;
        Ok(())
    };
}

/// Returns the number of requests that were refused, and the time that all calls took.
async fn run(counts: Counts, names_the_wait: bool) -> (u32, Duration) {
    let _seeded = testing::seed(1);
    let start = Instant::now();
    let server = Rc::new(RefCell::new(Server {
        counts,
        names_the_wait,
        start,
        tokens: 60.0,
        filled: Duration::ZERO,
        taken: VecDeque::new(),
        refused: 0,
        answered: 0,
    }));
    let limiter = Rc::new(RateLimiter::adaptive());
    let left = Rc::new(Cell::new(CALLS));
    let workers = LocalSet::new();
    for worker in 0..WORKERS {
        let (server, limiter, left) = (Rc::clone(&server), Rc::clone(&limiter), Rc::clone(&left));
        workers.spawn_local(async move {
            while let Some(rest) = left.get().checked_sub(1) {
                left.set(rest);
                let takes = millis(300 + (worker * 7 + u64::from(rest) * 13) % 400);
                complete(&limiter, &server, takes).await.unwrap();
            }
        });
    }
    workers.await;
    let server = server.borrow();
    assert_eq!(server.answered, CALLS);
    (server.refused, start.elapsed())
}

/// No call fails, hardly anything is refused beyond the 140 of the first moment, and it takes little longer than the
/// 940 seconds that it must.
#[tokio::test(start_paused = true)]
async fn an_adaptive_rate_has_hardly_any_refusals() {
    use Counts::{Bucket, BucketOfAll, Sliding, Window};

    for counts in [Bucket, BucketOfAll, Window, Sliding] {
        for names_the_wait in [true, false] {
            let (refused, took) = run(counts, names_the_wait).await;
            let what = format!("{counts:?}, {names_the_wait}: {refused} in {took:?}");
            assert!(refused <= 240, "{what}");
            assert!(took < secs(1080), "{what}");
        }
    }
}
