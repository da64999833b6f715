use support::prelude::*;

/// The outcome of a call, and its waits in milliseconds.
async fn waits<F>(steps: Vec<Failure>, call: F) -> (Result<usize, Failure>, Vec<u128>)
where
    F: AsyncFnOnce(&mut Script) -> Result<usize, Failure>,
{
    let _seeded = testing::seed(1);
    let recording = testing::record();
    let start = Instant::now();
    let outcome = call(&mut Script::new(steps)).await;
    let waits = recording.delays();
    let slept = start.elapsed();
    let exact: Duration = waits.iter().sum();
    // The timer has millisecond granularity.
    assert!(slept >= exact && slept <= exact + millis(1) * waits.len() as u32);
    (outcome, waits.iter().map(Duration::as_millis).collect())
}

/// Rules and delays of all kinds are compared with a model in `forms`.
#[tokio::test(start_paused = true)]
async fn each_rule_waits_its_time() {
    scripted! {
        #[retry(jitter = "none")] async fn honor();
        #[retry(jitter = "none", max_hint = "5s")] async fn shorter();
        #[retry(max = 4, base = "2s", floor = "1s", hint = "exact", max_hint = "1m")] async fn exact();
        #[retry(policy = Policy::none().jitter(Jitter::None))] async fn without_backoff();
    }

    let hints = |hints: &[u64]| {
        let hints = hints.iter().map(|hint| throttled_for(millis(*hint)));
        hints.collect::<Vec<_>>()
    };
    let too_long = |hint| Err(throttled_for(millis(hint)));
    assert_rows! {
        waits(hints(&[120_000]), honor).await => (Ok(2), vec![120_000]);
        waits(hints(&[120_001]), honor).await => (too_long(120_001), vec![]);
        waits(hints(&[5_000, 6_000]), shorter).await => (too_long(6_000), vec![5_000]);
        // Shorter and longer than the delay, at once, and too long. None of it is jittered.
        waits(hints(&[28, 45_000, 0, 60_001]), exact).await => (too_long(60_001), vec![28, 45_000, 0]);
        waits(vec![throttled_for(secs(9)), THROTTLED], without_backoff).await => (Ok(3), vec![9_000, 0]);
    }
    let recording = testing::record();
    let mut script = Script::new(hints(&[6_000]));
    shorter(&mut script).await.unwrap_err();
    let line = recording.lines().remove(0);
    let end = "error=throttled; the server asks to wait 6s reason=hint too long";
    assert!(line.ends_with(end), "{line}");
}

/// Returns the waits of 1000 callers with the same hint, shortest first.
fn waits_of_callers(
    failures: &[Failure],
    call: fn(&mut Script) -> Result<usize, Failure>,
) -> Vec<Duration> {
    let _skipped = testing::skip_sleeps();
    let _seeded = testing::seed(1);
    let waits = (0..1000).map(|_| {
        let recording = testing::record();
        assert!(call(&mut Script::new(failures.to_vec())).is_ok());
        *recording.delays().last().expect("a wait")
    });
    let mut waits: Vec<_> = waits.collect();
    waits.sort_unstable();
    waits
}

/// Checks with a histogram of ten bars that the callers return evenly over this time, and that no 10 ms are busier than
/// with the policy's own waits.
fn assert_spread(waits: &[Duration], from: Duration, over: Duration) {
    let mut histogram = [0; 10];
    for wait in waits {
        assert!(*wait >= from && *wait <= from + over, "{wait:?}");
        let tenth = wait.saturating_sub(from).as_nanos() * 10 / over.as_nanos();
        histogram[usize::try_from(tenth).unwrap().min(9)] += 1;
    }
    let is_even = histogram.iter().all(|callers| (70..=130).contains(callers));
    assert!(is_even, "{from:?}: {histogram:?}");
    let at_once = waits.iter().map(|start| {
        let slot = *start..*start + millis(10);
        waits.iter().filter(|wait| slot.contains(wait)).count()
    });
    let busiest = at_once.max();
    assert!(busiest < Some(30), "{from:?}: {busiest:?} of 1000 at once");
}

/// A tenth of a short wait would not spread the callers.
#[test]
fn callers_are_spread_over_100_ms_after_a_short_wait() {
    scripted! { #[retry(base = "1ms")] fn call(); }

    let waits = waits_of_callers(&[throttled_for(millis(50))], call);
    let [first, last] = [waits[0], waits[999]];
    assert!((millis(50)..millis(60)).contains(&first), "{first:?}");
    assert!((millis(140)..=millis(150)).contains(&last), "{last:?}");
}

#[test]
fn a_thousand_callers_do_not_come_back_at_once() {
    scripted! {
        #[retry(max = 9)] fn honor();
        #[retry(hint = "clamp")] fn clamp();
    }

    // The first delay is up to 1 s, and a tenth of the hint is more from 10 s.
    for (hint, from, over) in [
        (THROTTLED, secs(0), secs(1)),
        (throttled_for(secs(1)), secs(1), secs(1)),
        (throttled_for(secs(10)), secs(10), secs(1)),
        (throttled_for(secs(60)), secs(60), secs(6)),
    ] {
        assert_spread(&waits_of_callers(&[hint], honor), from, over);
    }
    // The fourth delay is up to 8 s, the sixth up to the cap.
    for (earlier, over) in [(3, secs(8)), (5, secs(30))] {
        let mut failures = vec![TRANSIENT; earlier];
        failures.push(throttled_for(secs(2)));
        assert_spread(&waits_of_callers(&failures, honor), secs(2), over);
    }
    for (hint, from) in [
        (THROTTLED, secs(0)),
        (throttled_for(secs(2)), secs(2)),
        (throttled_for(secs(60)), secs(5)),
    ] {
        assert_spread(&waits_of_callers(&[hint], clamp), from, secs(1));
    }
}

#[test]
fn jitter_on_a_hint_never_passes_the_deadline() {
    scripted! {
        #[retry(deadline = "2100ms")] fn honor();
        #[retry(deadline = "2100ms", hint = "clamp")] fn clamp();
    }

    for call in [honor, clamp] {
        let waits = waits_of_callers(&[throttled_for(secs(2))], call);
        assert!(waits[0] >= secs(2) && waits[999] <= millis(2100));
        assert!(waits[999] > millis(2050), "all of what is left is used");
    }
}

#[tokio::test(start_paused = true)]
async fn from_an_on_function_and_by_expression() {
    scripted! { #[retry(jitter = "none", hint = hint, on = |failure| failure.0.hint())] async fn call(hint: Hint); }

    for (hint, wait) in [
        (Hint::Honor, 9_000),
        (Hint::Clamp, 6_000),
        (Hint::Exact, 9_000),
        (Hint::Ignore, 1_000),
    ] {
        let call = async |script: &mut Script| call(hint, script).await;
        // If `on` returns an `Option`, `None` means stop.
        let steps = vec![throttled_for(secs(9)), STOP];
        assert_eq!(waits(steps, call).await, (Err(STOP), vec![wait]));
    }
}
