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

/// Values with a macro, whose `return` could otherwise leave the function.
#[tokio::test(start_paused = true)]
async fn macros_in_values_can_use_surrounding_variables() {
    struct Client {
        breaker: Breaker,
        quota: RateLimiter<Quota>,
        patience: Duration,
    }

    macro_rules! of {
        ($client:ident, $field:ident) => {
            $client.$field
        };
    }

    impl Client {
        scripted! {
            #[retry(max = "unlimited", jitter = "none", deadline = of!(self, patience),
                timeout = of!(self, patience).max(secs(20)), breaker = &of!(self, breaker),
                limiter = &of!(self, quota))]
            async fn call(&self, script: &mut Script) -> Result<usize, Failure> = script.next();
        }
    }

    let client = Client {
        breaker: Breaker::new(),
        quota: RateLimiter::fixed(1000, secs(1)),
        patience: secs(10),
    };
    let mut script = Script::new(vec![TRANSIENT; 100]);
    assert_eq!(client.call(&mut script).await, Err(TRANSIENT));
    assert_eq!(script.attempts, 4);
}

/// The error before the attempt that the time ended, if there is one.
fn last_real_error(gave_up: GaveUp<Failure>) -> Failure {
    let mut errors = gave_up.into_errors();
    let last = errors.pop().expect("a call that gave up has an error");
    errors.pop().filter(|_| last == TIMEOUT).unwrap_or(last)
}

#[tokio::test(start_paused = true)]
async fn at_the_end_an_attempt_may_be_dropped_for_the_error_before_it() {
    #[retry(max = "unlimited", backoff = "fixed", base = "1s", jitter = "none", give_up = last_real_error,
        deadline = end - Instant::now(), timeout = end - Instant::now())]
    async fn call(end: Instant, script: &mut Script) -> Result<usize, Failure> {
        let outcome = script.next();
        sleep(secs(3)).await;
        outcome
    }

    let start = Instant::now();
    let ran = run!([TRANSIENT; 9], |script| call(start + secs(10), script)
        .await);
    // Attempts at 0–3, 4–7 and 8–10 s.
    assert_eq!((ran, start.elapsed()), ((Err(TRANSIENT), 3), secs(10)));
    let end = Instant::now() + secs(2);
    assert_eq!(call(end, &mut Script::new([])).await, Err(TIMEOUT));
}
