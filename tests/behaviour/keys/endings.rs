//! `give_up` and `fallback`.

use retry_runtime::{EventData, GaveUp, Policy, Reason, retry, testing};
use support::failure::{Failure, STOP, THROTTLED, TIMEOUT, TRANSIENT, throttled_for};
use tokio::time::sleep;

use crate::keys::{Script, secs};

/// A failed call's story.
type Story = (Vec<Failure>, u32, u64, Reason);

fn story(gave_up: &GaveUp<Failure>) -> Story {
    assert_eq!(gave_up.errors().next_back(), Some(gave_up.error()));
    let errors = gave_up.errors().cloned().collect();
    (
        errors,
        gave_up.attempts(),
        gave_up.elapsed().as_secs(),
        gave_up.reason(),
    )
}

#[retry(
    max = 2,
    jitter = "none",
    repeats = 2,
    idempotent = false,
    deadline = "20s",
    give_up = |gave_up| {
        stories.push(story(&gave_up));
        gave_up.into_error()
    },
)]
async fn call(script: &mut Script, stories: &mut Vec<Story>) -> Result<usize, Failure> {
    script.next()
}

async fn ending(steps: impl IntoIterator<Item = Failure>) -> Story {
    let mut stories = Vec::new();
    let mut script = Script::new(steps);
    let error = call(&mut script, &mut stories).await.unwrap_err();
    let [story] = <[Story; 1]>::try_from(stories).unwrap();
    assert_eq!(story.0.last(), Some(&error));
    assert_eq!(story.1 as usize, script.attempts);
    story
}

#[tokio::test(start_paused = true)]
async fn every_reason_is_reported() {
    let long = throttled_for(secs(200));
    let late = throttled_for(secs(20));
    assert_eq!(
        ending([STOP]).await,
        (vec![STOP], 1, 0, Reason::NotRetryable)
    );
    assert_eq!(
        ending([TRANSIENT, THROTTLED, TRANSIENT]).await,
        (
            vec![TRANSIENT, THROTTLED, TRANSIENT],
            3,
            3,
            Reason::Exhausted
        )
    );
    assert_eq!(
        ending([THROTTLED, THROTTLED]).await,
        (vec![THROTTLED, THROTTLED], 2, 1, Reason::Repeated)
    );
    assert_eq!(
        ending([TRANSIENT, TIMEOUT]).await,
        (vec![TRANSIENT, TIMEOUT], 2, 1, Reason::Ambiguous)
    );
    assert_eq!(
        ending([long.clone()]).await,
        (vec![long], 1, 0, Reason::HintTooLong)
    );
    assert_eq!(
        ending([TRANSIENT, late.clone()]).await,
        (vec![TRANSIENT, late], 2, 1, Reason::Deadline)
    );
}

#[tokio::test(start_paused = true)]
async fn a_success_is_not_a_give_up() {
    let mut stories = Vec::new();
    let mut script = Script::new([TRANSIENT]);
    assert_eq!(call(&mut script, &mut stories).await, Ok(2));
    assert_eq!(stories, []);
}

fn wrap(gave_up: GaveUp<String>) -> String {
    gave_up.to_string()
}

#[test]
fn the_error_may_be_shaped_by_a_path() {
    #[retry(max = 1, backoff = "none", give_up = wrap, on = |_| true)]
    fn call() -> Result<(), String> {
        Err(String::from("503"))
    }

    #[retry(give_up = wrap, on = |_| false)]
    fn once() -> Result<(), String> {
        Err(String::from("401"))
    }

    let error = call().unwrap_err();
    assert!(error.starts_with("gave up after 2 attempts in "), "{error}");
    assert!(error.ends_with(" (exhausted): 503"), "{error}");
    let error = once().unwrap_err();
    assert!(error.starts_with("gave up after 1 attempt in "), "{error}");
}

#[tokio::test(start_paused = true)]
async fn a_fallback_has_the_last_word() {
    struct Client {
        default: usize,
    }

    impl Client {
        #[retry(max = 1, jitter = "none", fallback = async |gave_up| self.other_model(gave_up).await)]
        async fn call(&self, script: &mut Script) -> Result<usize, Failure> {
            script.next()
        }

        async fn other_model(&self, gave_up: GaveUp<Failure>) -> Result<usize, Failure> {
            sleep(secs(1)).await;
            match gave_up.reason() {
                Reason::NotRetryable => Err(gave_up.into_error()),
                _ => Ok(self.default + gave_up.into_errors().len()),
            }
        }
    }

    let client = Client { default: 100 };
    assert_eq!(client.call(&mut Script::new([])).await, Ok(1));
    assert_eq!(client.call(&mut Script::new([TRANSIENT])).await, Ok(2));
    assert_eq!(
        client.call(&mut Script::new([TRANSIENT, TIMEOUT])).await,
        Ok(102)
    );
    assert_eq!(client.call(&mut Script::new([STOP])).await, Err(STOP));
}

#[tokio::test(start_paused = true)]
async fn a_fallback_may_be_a_path() {
    async fn cached(gave_up: GaveUp<Failure>) -> Result<usize, Failure> {
        assert_eq!(gave_up.attempts(), 2);
        Ok(42)
    }

    scripted! { #[retry(max = 1, jitter = "none", fallback = cached)] async fn call(); }

    assert_eq!(call(&mut Script::new([TRANSIENT, TRANSIENT])).await, Ok(42));
}

#[test]
fn a_blocking_fallback() {
    #[retry(max = 1, backoff = "none", fallback = |gave_up| match gave_up.error() {
        error if *error == STOP => Err(STOP),
        _ => Ok(script.attempts + 100),
    })]
    fn call(script: &mut Script) -> Result<usize, Failure> {
        script.next()
    }

    assert_eq!(call(&mut Script::new([TRANSIENT, TRANSIENT])), Ok(102));
    assert_eq!(call(&mut Script::new([STOP])), Err(STOP));
}

/// Alerts count `gave up`, so only calls that failed log it.
#[tokio::test(start_paused = true)]
async fn the_outcome_of_the_fallback_is_reported() {
    #[retry(max = 1, backoff = "none", name = "call", fallback = async |_| cached, observe = |event| {
        if let EventData::FellBack { .. } = event.data {
            fell_back.push(event.attempt);
        }
    })]
    async fn call(
        script: &mut Script,
        cached: Result<usize, Failure>,
        fell_back: &mut Vec<u32>,
    ) -> Result<usize, Failure> {
        script.next()
    }

    let fall_back = async |steps: &[Failure], cached| {
        let recording = testing::record();
        let mut fell_back = Vec::new();
        let _ = call(&mut Script::new(steps.to_vec()), cached, &mut fell_back).await;
        (recording.lines().split_off(steps.len() - 1), fell_back)
    };
    let falling = "falling back call attempt=2 max=1 error=timeout reason=exhausted";
    let (lines, fell_back) = fall_back(&[TRANSIENT, TIMEOUT], Ok(7)).await;
    assert_eq!(lines, [falling, "fell back call attempt=2 max=1"]);
    assert_eq!(fell_back, [2]);
    let (lines, fell_back) = fall_back(&[TRANSIENT, TIMEOUT], Err(STOP)).await;
    let gave_up = "gave up call attempt=2 max=1 error=stop reason=fallback failed";
    assert_eq!(lines, [falling, gave_up]);
    assert_eq!(fell_back, [0; 0]);
    let (lines, _) = fall_back(&[STOP], Ok(7)).await;
    assert_eq!(
        lines,
        [
            "falling back call attempt=1 max=1 error=stop reason=not retryable",
            "fell back call attempt=1 max=1",
        ]
    );
}

#[test]
fn the_fallback_is_reported_in_blocking_calls_and_after_corrections() {
    #[retry(max = 0, name = "call", on = |_| false, fallback = |gave_up| match gave_up.error().len() {
        3 => Ok(7),
        _ => Err(String::from("no cache")),
    })]
    fn call(error: &str) -> Result<usize, String> {
        Err(String::from(error))
    }

    #[retry(
        name = "call",
        on = |_| false,
        validate = |_| Err(String::from("wrong")),
        correct = |_, _| Err(String::from("no idea")),
        fallback = |_| Ok(7)
    )]
    fn corrected() -> Result<usize, String> {
        Ok(1)
    }

    let recording = testing::record();
    assert_eq!(call("503"), Ok(7));
    assert!(call("busy").is_err());
    assert_eq!(
        recording.lines(),
        [
            "falling back call attempt=1 max=0 error=503 reason=not retryable",
            "fell back call attempt=1 max=0",
            "falling back call attempt=1 max=0 error=busy reason=not retryable",
            "gave up call attempt=1 max=0 error=no cache reason=fallback failed",
        ]
    );
    let recording = testing::record();
    assert_eq!(corrected(), Ok(7));
    assert_eq!(
        recording.lines()[1..],
        [
            "falling back call attempt=1 corrections=1 max=3 error=no idea reason=correction failed",
            "fell back call attempt=1 corrections=1 max=3",
        ]
    );
}

#[test]
fn a_returned_value_does_not_call_the_fallback() {
    #[retry(max = 0, name = "call", on = |_| false, until = |_| false, fallback = |_| Ok(7))]
    fn call() -> Result<usize, String> {
        Ok(1)
    }

    let recording = testing::record();
    assert_eq!(call(), Ok(1));
    assert_eq!(
        recording.lines(),
        ["gave up call attempt=1 max=0 error=value rejected reason=exhausted"]
    );
}

/// The records and the events of a call that ends with an error.
fn records_and_events(call: impl FnOnce(&mut Vec<String>)) -> (Vec<String>, Vec<String>) {
    let (recording, mut events) = (testing::record(), Vec::new());
    call(&mut events);
    (recording.lines(), events)
}

type Fallback = fn(GaveUp<String>) -> Result<(), String>;

#[test]
fn a_fallback_that_returns_the_error_of_the_call_keeps_its_reason() {
    #[retry(max = 0, name = "call", on = |_| true, fallback = fallback, observe = |event| {
        if let EventData::GaveUp { reason, .. } = event.data {
            ends.push(format!("{} {reason}", event.attempt));
        }
    })]
    fn call(
        ends: &mut Vec<String>,
        fallback: fn(GaveUp<String>) -> Result<(), String>,
    ) -> Result<(), String> {
        Err(String::from("busy"))
    }

    let falling = "falling back call attempt=1 max=0 error=busy reason=exhausted";
    let failed =
        |error| format!("gave up call attempt=1 max=0 error={error} reason=fallback failed");
    let by: [(Fallback, _, _); 4] = [
        (|gave_up| Err(gave_up.into_error()), None, "1 exhausted"),
        (
            |gave_up| Err(gave_up.into_errors().remove(0)),
            None,
            "1 exhausted",
        ),
        // Another error with the same text.
        (
            |_| Err(String::from("busy")),
            Some("busy"),
            "1 fallback failed",
        ),
        (
            |gave_up| Err(gave_up.into_error() + ", too"),
            Some("busy, too"),
            "1 fallback failed",
        ),
    ];
    for (fallback, error, end) in by {
        let (lines, ends) = records_and_events(|ends| assert!(call(ends, fallback).is_err()));
        let lines: Vec<_> = lines.iter().map(String::as_str).collect();
        let failed = error.map(failed);
        let expected: Vec<_> = [falling].into_iter().chain(failed.as_deref()).collect();
        assert_eq!((lines, ends), (expected, vec![end.to_owned()]));
    }
}

#[tokio::test]
async fn a_chains_fallback_that_returns_the_error_of_the_call_keeps_its_reason() {
    let recording = testing::record();
    let policy = Policy::new().max(0).name("call");
    let called =
        policy.fallback(async |gave_up: GaveUp<Failure>| Err::<(), _>(gave_up.into_error()));
    assert_eq!(called.call(async || Err(TRANSIENT)).await, Err(TRANSIENT));
    assert_eq!(
        recording.lines(),
        ["falling back call attempt=1 max=0 error=transient reason=exhausted"]
    );
}
