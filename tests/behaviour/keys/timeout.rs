use futures::stream::Stream;
use support::dropped::Alive;
use support::prelude::*;

#[retry(max = 2, jitter = "none", timeout = "500ms")]
async fn call(works: &mut Vec<Duration>, alive: &Cell<i32>) -> Result<usize, Failure> {
    let alive = Alive::new(alive);
    sleep(works.remove(0)).await;
    std::mem::forget(alive);
    Ok(works.len())
}

#[tokio::test(start_paused = true)]
async fn drops_the_attempt_and_retries() {
    for (works, outcome, completed, elapsed) in rows! {
        vec![secs(60), secs(60), millis(499)], Ok(0), 1, 500 + 1000 + 500 + 2000 + 499;
        // A finished attempt wins over the timeout.
        vec![millis(500)], Ok(0), 1, 500;
        vec![secs(60); 9], Err(TIMEOUT), 0, 500 + 1000 + 500 + 2000 + 500;
    } {
        let (start, alive) = (Instant::now(), Cell::new(0));
        assert_eq!(call(&mut works.clone(), &alive).await, outcome);
        assert_eq!((alive.get(), start.elapsed()), (completed, millis(elapsed)));
    }
}

#[tokio::test(start_paused = true)]
async fn is_evaluated_before_each_attempt() {
    scripted! {
        #[retry(max = 3, jitter = "none", timeout = secs(script.attempts as u64 + 1))]
        async fn call(script: &mut Script) = {
            let _ = script.next();
            pending().await
        };
    }

    let start = Instant::now();
    assert_eq!(call(&mut Script::new([])).await, Err(TIMEOUT));
    assert_eq!(start.elapsed(), secs((1 + 2 + 3 + 4) + (1 + 2 + 4)));
}

#[tokio::test(start_paused = true)]
async fn may_be_absent_at_run_time() {
    scripted! {
        #[retry(max = 1, timeout = limit)]
        async fn call(limit: Option<Duration>) = {
            sleep(secs(3600)).await;
            Ok(())
        };
    }

    assert_eq!(call(None).await, Ok(()));
    assert_eq!(call(Some(secs(1))).await, Err(TIMEOUT));
}

#[tokio::test(start_paused = true)]
async fn a_timeout_converts_into_the_error_type() {
    scripted! {
        #[retry(max = 0, timeout = "250ms")] async fn io() -> io::Result<()> = pending().await;
        #[retry(max = 0, timeout = "250ms", on = |_| true)]
        async fn boxed() -> Result<(), Box<dyn Error + Send + Sync>> = pending().await;
        #[retry(max = 0, timeout = "250ms", on = |_| true)] async fn anyhow() -> anyhow::Result<()> = pending().await;
    }

    let timed_out = TimedOut::new(millis(250));
    let error = io().await.unwrap_err();
    assert_eq!(error.kind(), io::ErrorKind::TimedOut);
    assert_eq!(error.downcast::<TimedOut>().unwrap(), timed_out);
    assert_eq!(boxed().await.unwrap_err().downcast_ref(), Some(&timed_out));
    let shown = anyhow().await.unwrap_err().to_string();
    assert_eq!(shown, "timed out after 250ms");
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
    /// Only wraps tokio's, when it is polled.
    struct Wrapping;

    impl Timer for Wrapping {
        async fn sleep(&self, duration: Duration) {
            Timer::sleep(&DefaultTimer, duration).await;
        }
    }

    scripted! {
        #[retry(max = 2, jitter = "none", timeout = "1s")]
        async fn call(works: &mut Vec<Duration>) = answer_after(works.remove(0)).await;
        #[retry(max = 2, jitter = "none", timeout = "1s", timer = Wrapping)]
        async fn wrapped(works: &mut Vec<Duration>) = answer_after(works.remove(0)).await;
    }

    type Works<'a> = &'a mut Vec<Duration>;
    #[retry(stream = "buffer", max = 2, jitter = "none", timeout = "1s")]
    async fn stream(
        works: Works<'_>,
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
    async fn call(script: &mut Script) -> Result<usize, Failure> {
        sleep(millis(900)).await;
        script.next()
    }

    let _skipped = testing::skip_sleeps();
    let start = Instant::now();
    // There is a pause of 1 s at 0.9 s and of 2 s at 2.8 s, and the call ends at 5.7 s.
    let ran = run!([TRANSIENT; 9], |script| call(script).await);
    assert_eq!(ran, (Err(TRANSIENT), 3));
    assert_eq!(start.elapsed(), millis(2700));
}
