use std::time::Duration;

use retry_runtime::{Hint, Policy, retry, testing};
use support::failure::{Failure, STOP, THROTTLED, throttled_for};
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
    // The timer goes by the millisecond.
    assert!(slept >= exact && slept <= exact + millis(1) * waits.len() as u32);
    (outcome, waits)
}

#[tokio::test(start_paused = true)]
async fn honored_without_jitter_is_exact() {
    #[retry(jitter = "none")]
    async fn call(script: &mut Script) -> Result<usize, Failure> {
        script.next()
    }

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
    #[retry(max = 200, base = "1ms", cap = "1ms")]
    async fn call(script: &mut Script) -> Result<usize, Failure> {
        script.next()
    }

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

#[tokio::test(start_paused = true)]
async fn too_long_ends_the_call() {
    #[retry(jitter = "none")]
    async fn by_default(script: &mut Script) -> Result<usize, Failure> {
        script.next()
    }

    #[retry(jitter = "none", max_hint = "5s")]
    async fn shorter(script: &mut Script) -> Result<usize, Failure> {
        script.next()
    }

    let recording = testing::record();
    let (outcome, slept) = waits(vec![throttled_for(secs(60))], by_default).await;
    assert_eq!((outcome, slept), (Ok(2), vec![secs(60)]));
    let long = throttled_for(millis(60_001));
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
    assert!(recording.lines()[0].ends_with("error=throttled reason=hint too long"));
}

#[tokio::test(start_paused = true)]
async fn clamped_is_at_most_five_seconds_above_the_delay() {
    #[retry(jitter = "none", hint = "clamp")]
    async fn call(script: &mut Script) -> Result<usize, Failure> {
        script.next()
    }

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
async fn ignored_leaves_the_delay() {
    #[retry(jitter = "none", hint = "ignore")]
    async fn call(script: &mut Script) -> Result<usize, Failure> {
        script.next()
    }

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
        (Hint::Ignore, secs(1)),
    ] {
        let call = async |script: &mut Script| call(script, hint).await;
        // No hint is a stop where `on` answers with an `Option`.
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
