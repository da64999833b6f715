use support::prelude::*;

#[tokio::test(start_paused = true)]
async fn an_attempt_may_start_exactly_at_a_limit() {
    scripted! {
        #[retry(backoff = "fixed", base = "5s", jitter = "none", deadline = secs(10))] async fn call();
        #[retry(backoff = "fixed", base = "5s", jitter = "none", total_delay = secs(10))] async fn paused();
    }

    let hinted = || vec![throttled_for(secs(10)), TRANSIENT];
    assert_rows! {
        run!([TRANSIENT; 2], |script| call(script).await) => (Ok(3), 3);
        run!([TRANSIENT; 3], |script| call(script).await) => (Err(TRANSIENT), 3);
        run!([TRANSIENT; 2], |script| paused(script).await) => (Ok(3), 3);
        run!([TRANSIENT; 3], |script| paused(script).await) => (Err(TRANSIENT), 3);
        // A server's hint counts, too.
        run!(hinted(), |script| paused(script).await) => (Err(TRANSIENT), 2);
        run!(hinted()[..1].to_vec(), |script| paused(script).await) => (Ok(2), 2);
    }
}

#[tokio::test(start_paused = true)]
async fn may_be_computed_or_absent() {
    scripted! {
        #[retry(max = 9, backoff = "fixed", jitter = "none", deadline = limit)]
        async fn call(limit: Option<Duration>);
    }

    for (limit, attempts) in [
        (Some(millis(2500)), 3),
        (None, 10),
        (Some(Duration::MAX), 10),
    ] {
        let ran = run!([TRANSIENT; 100], |script| call(limit, script).await);
        assert_eq!(ran, (Err(TRANSIENT), attempts));
    }
}

/// A short deadline is accepted if an attempt can start before the first delay, and attempts start.
#[tokio::test(start_paused = true)]
async fn a_short_deadline_allows_attempts_without_a_delay() {
    scripted! {
        #[retry(max = 1, jitter = "none", deadline = "500ms", validate = |number| (*number > 1).then_some(()).ok_or(STOP))]
        async fn asked_again_at_once();
        #[retry(max = 1, backoff = ["5s"], cap = "100ms", jitter = "none", deadline = "500ms")]
        async fn under_a_cap();
        #[retry(max = 1, jitter = "none", deadline = "500ms", timed_out(base = "10ms"), on = |_| Verdict::TIMEOUT)]
        async fn by_a_section();
        #[retry(max = 0, deadline = "500ms")] async fn never();
    }

    assert_rows! {
        asked_again_at_once(&mut Script::new([])).await => Ok(2);
        under_a_cap(&mut Script::new([TRANSIENT])).await => Ok(2);
        by_a_section(&mut Script::new([TRANSIENT])).await => Ok(2);
        never(&mut Script::new([])).await => Ok(1);
    }
}
