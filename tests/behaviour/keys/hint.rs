use std::time::Duration;

use retry_runtime::{Hint, Policy, retry, retrying, testing};
use support::failure::{Failure, STOP, THROTTLED, TRANSIENT, throttled_for};
use tokio::time::Instant;

use crate::keys::{Script, millis, secs};

async fn waits<F>(steps: Vec<Failure>, call: F) -> (Result<usize, Failure>, Vec<Duration>)
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
    (outcome, waits)
}

#[tokio::test(start_paused = true)]
async fn honored_without_jitter_is_exact() {
    scripted! { #[retry(jitter = "none")] async fn call(); }

    let steps = vec![
        throttled_for(secs(7)),
        // Less than the policy's own delay of 2 s.
        throttled_for(millis(500)),
        // More than the cap.
        throttled_for(secs(45)),
    ];
    assert_eq!(
        waits(steps, call).await,
        (Ok(4), vec![secs(7), secs(2), secs(45)])
    );
}

#[tokio::test(start_paused = true)]
async fn honored_with_jitter_is_spread_above_the_hint() {
    scripted! { #[retry(max = 200, base = "1ms", cap = "1ms")] async fn call(); }

    for (hint, spread) in [
        (secs(20), secs(2)),
        (secs(1), millis(100)),
        (Duration::ZERO, millis(100)),
    ] {
        let (outcome, mut waits) = waits(vec![throttled_for(hint); 200], call).await;
        assert_eq!(outcome, Ok(201));
        waits.sort_unstable();
        assert!(
            waits[0] >= hint && waits[0] <= hint + spread / 10,
            "{:?}",
            waits[0]
        );
        assert!(waits[199] <= hint + spread && waits[199] >= hint + spread * 9 / 10);
        waits.dedup();
        assert_eq!(waits.len(), 200, "a fleet would come back as one wave");
    }
}

/// Returns the waits of 1000 callers with the same hint, shortest first.
fn waits_of_callers(
    told: &[Failure],
    call: fn(&mut Script) -> Result<usize, Failure>,
) -> Vec<Duration> {
    let _skipped = testing::skip_sleeps();
    let _seeded = testing::seed(1);
    let waits = (0..1000).map(|_| {
        let recording = testing::record();
        assert!(call(&mut Script::new(told.to_vec())).is_ok());
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
    assert!(
        histogram.iter().all(|callers| (70..=130).contains(callers)),
        "{from:?}: {histogram:?}"
    );
    let busiest = waits
        .iter()
        .map(|start| {
            let slot = *start..*start + millis(10);
            waits.iter().filter(|wait| slot.contains(wait)).count()
        })
        .max();
    assert!(busiest < Some(30), "{from:?}: {busiest:?} of 1000 at once");
}

/// A tenth of a short wait would not spread the callers.
#[test]
fn callers_are_spread_over_100_ms_after_a_short_wait() {
    scripted! { #[retry(base = "1ms")] fn function(); }

    fn chain(script: &mut Script) -> Result<usize, Failure> {
        Policy::new()
            .base(millis(1))
            .call_blocking(|| script.next())
    }

    fn expression(script: &mut Script) -> Result<usize, Failure> {
        retrying!(base = "1ms", { script.next() })
    }

    for call in [function, chain, expression] {
        let waits = waits_of_callers(&[throttled_for(millis(50))], call);
        assert!((millis(50)..millis(60)).contains(&waits[0]), "{waits:?}");
        assert!(
            (millis(140)..=millis(150)).contains(&waits[999]),
            "{waits:?}"
        );
    }
}

#[test]
fn a_thousand_callers_do_not_come_back_at_once() {
    scripted! {
        #[retry] fn honor();
        #[retry(hint = "clamp")] fn clamp();
    }

    // The first delay is up to 1 s, and a tenth of the hint is more from 10 s.
    for (told, from, over) in [
        (THROTTLED, secs(0), secs(1)),
        (throttled_for(secs(1)), secs(1), secs(1)),
        (throttled_for(secs(10)), secs(10), secs(1)),
        (throttled_for(secs(60)), secs(60), secs(6)),
    ] {
        assert_spread(&waits_of_callers(&[told], honor), from, over);
    }
    for (told, from) in [
        (THROTTLED, secs(0)),
        (throttled_for(secs(2)), secs(2)),
        (throttled_for(secs(60)), secs(5)),
    ] {
        assert_spread(&waits_of_callers(&[told], clamp), from, secs(1));
    }
}

#[test]
fn callers_spread_as_the_policy_would_at_that_retry() {
    scripted! { #[retry(max = 9)] fn call(); }

    // The fourth delay is up to 8 s, the sixth up to the cap.
    let hinted = throttled_for(secs(2));
    let fourth = [TRANSIENT, TRANSIENT, TRANSIENT, hinted.clone()];
    assert_spread(&waits_of_callers(&fourth, call), secs(2), secs(8));
    let sixth = [&[TRANSIENT; 5][..], &[hinted]].concat();
    assert_spread(&waits_of_callers(&sixth, call), secs(2), secs(30));
}

#[test]
fn without_jitter_callers_are_not_spread() {
    scripted! {
        #[retry(jitter = "none")] fn honor();
        #[retry(jitter = "none", hint = "clamp")] fn clamp();
    }

    for call in [honor, clamp] {
        let waits = waits_of_callers(&[throttled_for(secs(2))], call);
        assert!(waits.iter().all(|wait| *wait == secs(2)));
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
async fn too_long_ends_the_call() {
    scripted! {
        #[retry(jitter = "none")] async fn by_default();
        #[retry(jitter = "none", max_hint = "5s")] async fn shorter();
    }

    let recording = testing::record();
    let (outcome, slept) = waits(vec![throttled_for(secs(120))], by_default).await;
    assert_eq!((outcome, slept), (Ok(2), vec![secs(120)]));
    let long = throttled_for(millis(120_001));
    let (outcome, slept) = waits(vec![long.clone()], by_default).await;
    assert_eq!((outcome, slept), (Err(long), vec![]));
    let long = throttled_for(secs(6));
    let (outcome, slept) = waits(vec![throttled_for(secs(5)), long.clone()], shorter).await;
    assert_eq!((outcome, slept), (Err(long), vec![secs(5)]));
    drop(recording);

    let recording = testing::record();
    assert!(
        shorter(&mut Script::new([throttled_for(secs(6))]))
            .await
            .is_err()
    );
    assert!(
        recording.lines()[0]
            .ends_with("error=throttled; the server asks to wait 6s reason=hint too long")
    );
}

#[tokio::test(start_paused = true)]
async fn clamped_is_at_most_five_seconds_above_the_delay() {
    scripted! { #[retry(jitter = "none", hint = "clamp")] async fn call(); }

    let steps = vec![
        throttled_for(secs(3)),
        throttled_for(secs(100)),
        throttled_for(secs(1)),
    ];
    assert_eq!(
        waits(steps, call).await,
        (Ok(4), vec![secs(3), secs(7), secs(4)])
    );
}

#[tokio::test(start_paused = true)]
async fn clamped_is_cut_to_a_max_hint_that_is_named() {
    scripted! { #[retry(jitter = "none", hint = "clamp", max_hint = "10s")] async fn call(); }

    let steps = [3, 300, 1].map(|hint| throttled_for(secs(hint))).to_vec();
    let waited = vec![secs(3), secs(10), secs(4)];
    assert_eq!(waits(steps, call).await, (Ok(4), waited));
}

#[tokio::test(start_paused = true)]
async fn an_exact_hint_replaces_the_delay() {
    #[retry(max = 4, base = "2s", floor = "1s", hint = "exact", max_hint = "1m")]
    async fn call(script: &mut Script) -> Result<usize, Failure> {
        script.next()
    }

    // Shorter and longer than the delay, at once, and too long. None of it is jittered.
    let hints = [28, 45_000, 0, 60_001].map(|hint| throttled_for(millis(hint)));
    let last = hints[3].clone();
    let waited = vec![millis(28), secs(45), Duration::ZERO];
    assert_eq!(waits(hints.to_vec(), call).await, (Err(last), waited));
}

#[tokio::test(start_paused = true)]
async fn ignored_leaves_the_delay() {
    scripted! { #[retry(jitter = "none", hint = "ignore")] async fn call(); }

    let steps = vec![throttled_for(secs(3)), throttled_for(secs(3600))];
    assert_eq!(waits(steps, call).await, (Ok(3), vec![secs(1), secs(2)]));
}

#[tokio::test(start_paused = true)]
async fn from_an_on_function_and_by_expression() {
    #[retry(jitter = "none", hint = hint, on = |failure| failure.0.hint())]
    async fn call(script: &mut Script, hint: Hint) -> Result<usize, Failure> {
        script.next()
    }

    let steps = vec![throttled_for(secs(9)), STOP];
    for (hint, wait) in [
        (Hint::Honor, secs(9)),
        (Hint::Clamp, secs(6)),
        (Hint::Exact, secs(9)),
        (Hint::Ignore, secs(1)),
    ] {
        let call = async |script: &mut Script| call(script, hint).await;
        // If `on` returns an `Option`, `None` means stop.
        assert_eq!(waits(steps.clone(), call).await, (Err(STOP), vec![wait]));
    }
}

#[tokio::test(start_paused = true)]
async fn backoff_none_waits_for_a_hint() {
    #[retry(policy = Policy::none().jitter(retry_runtime::Jitter::None))]
    async fn call(script: &mut Script) -> Result<usize, Failure> {
        script.next()
    }

    let steps = vec![throttled_for(secs(9)), THROTTLED];
    assert_eq!(
        waits(steps, call).await,
        (Ok(3), vec![secs(9), Duration::ZERO])
    );
}
