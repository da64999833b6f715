use std::cell::Cell;
use std::error::Error;
use std::future::pending;
use std::io;
use std::time::Duration;

use futures::stream::Stream;
use retry_runtime::seam::{DefaultTimer, Timer};
use retry_runtime::{TimedOut, retry, testing};
use support::failure::{Failure, TIMEOUT, TRANSIENT};
use tokio::time::{Instant, sleep};

use crate::keys::{Script, millis, secs};

/// Counts the attempts that were dropped before they ended.
struct Guard<'a>(&'a Cell<u32>);

impl Drop for Guard<'_> {
    fn drop(&mut self) {
        self.0.set(self.0.get() + 1);
    }
}

#[retry(max = 2, jitter = "none", timeout = "500ms")]
async fn call(works: &mut Vec<Duration>, dropped: &Cell<u32>) -> Result<usize, Failure> {
    let work = works.remove(0);
    let guard = Guard(dropped);
    sleep(work).await;
    std::mem::forget(guard);
    Ok(works.len())
}

#[tokio::test(start_paused = true)]
async fn drops_the_attempt_and_retries() {
    let start = Instant::now();
    let dropped = Cell::new(0);
    let mut works = vec![secs(60), secs(60), millis(499)];
    assert_eq!(call(&mut works, &dropped).await, Ok(0));
    assert_eq!(dropped.get(), 2);
    assert_eq!(start.elapsed(), millis(500 + 1000 + 500 + 2000 + 499));
}

#[tokio::test(start_paused = true)]
async fn is_the_error_when_all_is_spent() {
    let dropped = Cell::new(0);
    let recording = testing::record();
    assert_eq!(call(&mut vec![secs(60); 9], &dropped).await, Err(TIMEOUT));
    assert_eq!(dropped.get(), 3);
    assert!(
        recording.lines()[0].ends_with("attempt=1 max=2 delay=1s error=timeout reason=timeout")
    );
}

#[tokio::test(start_paused = true)]
async fn a_finished_attempt_wins_over_the_timeout() {
    let dropped = Cell::new(0);
    assert_eq!(call(&mut vec![millis(500)], &dropped).await, Ok(0));
    assert_eq!(dropped.get(), 0);
}

#[tokio::test(start_paused = true)]
async fn other_errors_keep_their_verdict() {
    #[retry(max = 3, jitter = "none", timeout = "500ms", timed_out(max = 0))]
    async fn call(script: &mut Script) -> Result<usize, Failure> {
        let outcome = script.next();
        if outcome == Err(TIMEOUT) {
            pending::<()>().await;
        }
        outcome
    }

    let mut script = Script::new([TRANSIENT, TRANSIENT, TIMEOUT]);
    assert_eq!(call(&mut script).await, Err(TIMEOUT));
    assert_eq!(script.attempts, 3);
}

#[tokio::test(start_paused = true)]
async fn is_evaluated_before_each_attempt() {
    #[retry(max = 3, jitter = "none", timeout = secs(script.attempts as u64 + 1))]
    async fn call(script: &mut Script) -> Result<usize, Failure> {
        script.next().ok();
        pending().await
    }

    let start = Instant::now();
    assert_eq!(call(&mut Script::new([])).await, Err(TIMEOUT));
    assert_eq!(start.elapsed(), secs((1 + 2 + 3 + 4) + (1 + 2 + 4)));
}

#[tokio::test(start_paused = true)]
async fn may_be_absent_at_run_time() {
    #[retry(max = 1, timeout = limit)]
    async fn call(limit: Option<Duration>) -> Result<(), Failure> {
        sleep(secs(3600)).await;
        Ok(())
    }

    assert_eq!(call(None).await, Ok(()));
    assert_eq!(call(Some(secs(1))).await, Err(TIMEOUT));
}

#[tokio::test(start_paused = true)]
async fn a_timeout_converts_into_the_error_type() {
    #[retry(max = 0, timeout = "250ms")]
    async fn io() -> io::Result<()> {
        pending().await
    }

    #[retry(max = 0, timeout = "250ms", on = |_| true)]
    async fn boxed() -> Result<(), Box<dyn Error + Send + Sync>> {
        pending().await
    }

    #[retry(max = 0, timeout = "250ms", on = |_| true)]
    async fn anyhow() -> anyhow::Result<()> {
        pending().await
    }

    let timed_out = TimedOut::new(millis(250));
    let error = io().await.unwrap_err();
    assert_eq!(error.kind(), io::ErrorKind::TimedOut);
    assert_eq!(error.downcast::<TimedOut>().unwrap(), timed_out);
    assert_eq!(boxed().await.unwrap_err().downcast_ref(), Some(&timed_out));
    assert_eq!(
        anyhow().await.unwrap_err().to_string(),
        "timed out after 250ms"
    );
}

#[tokio::test(start_paused = true)]
async fn on_functions_that_return_futures() {
    #[retry(max = 1, jitter = "none", timeout = "1s")]
    fn call(attempts: &Cell<u32>) -> impl Future<Output = Result<u32, Failure>> {
        let attempt = attempts.get() + 1;
        attempts.set(attempt);
        async move {
            if attempt == 1 {
                pending::<()>().await;
            }
            Ok(attempt)
        }
    }

    assert_eq!(call(&Cell::new(0)).await, Ok(2));
}

/// Simulates a server that responds after this time.
async fn answer_after(work: Duration) -> Result<(), Failure> {
    sleep(work).await;
    Err(TRANSIENT)
}

#[tokio::test(start_paused = true)]
async fn is_not_skipped_with_the_pauses() {
    #[retry(max = 2, jitter = "none", timeout = "1s")]
    async fn call(works: &mut Vec<Duration>) -> Result<(), Failure> {
        answer_after(works.remove(0)).await
    }

    /// Only wraps tokio's, when it is polled.
    struct Wrapping;

    impl Timer for Wrapping {
        async fn sleep(&self, duration: Duration) {
            Timer::sleep(&DefaultTimer, duration).await;
        }
    }

    #[retry(max = 2, jitter = "none", timeout = "1s", timer = Wrapping)]
    async fn wrapped(works: &mut Vec<Duration>) -> Result<(), Failure> {
        answer_after(works.remove(0)).await
    }

    #[retry(stream = "buffer", max = 2, jitter = "none", timeout = "1s")]
    async fn stream(
        works: &mut Vec<Duration>,
    ) -> Result<impl Stream<Item = Result<(), Failure>> + use<>, Failure> {
        let work = works.remove(0);
        Ok(futures::stream::once(answer_after(work)))
    }

    let works = || vec![millis(900), secs(60), millis(300)];
    let waited = millis(900 + 1000 + 300);
    let recording = testing::record();
    let skipped = testing::skip_sleeps();
    let start = Instant::now();
    assert_eq!(call(&mut works()).await, Err(TRANSIENT));
    assert_eq!((start.elapsed(), skipped.total()), (waited, secs(3)));
    let lines = recording.lines();
    for (line, error) in lines.iter().zip(["transient", "timeout", "transient"]) {
        assert!(line.contains(&format!("error={error} ")), "{line}");
    }

    assert_eq!(wrapped(&mut works()).await, Err(TRANSIENT));
    assert_eq!((start.elapsed(), skipped.total()), (2 * waited, secs(6)));
    assert_eq!(stream(&mut works()).await.err(), Some(TRANSIENT));
    assert_eq!((start.elapsed(), skipped.total()), (3 * waited, secs(9)));
}

#[tokio::test(start_paused = true)]
async fn a_deadline_sees_skipped_pauses_and_the_clock() {
    #[retry(max = 9, jitter = "none", deadline = "5s", timeout = "1s")]
    async fn call(attempts: &mut u32) -> Result<(), Failure> {
        *attempts += 1;
        answer_after(millis(900)).await
    }

    let _skipped = testing::skip_sleeps();
    let (start, mut attempts) = (Instant::now(), 0);
    // There is a pause of 1 s at 0.9 s and of 2 s at 2.8 s, and the call ends at 5.7 s.
    assert_eq!(call(&mut attempts).await, Err(TRANSIENT));
    assert_eq!((attempts, start.elapsed()), (3, millis(2700)));
}
