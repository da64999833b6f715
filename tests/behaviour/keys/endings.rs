//! `give_up` and `fallback`.

use support::prelude::*;

#[test]
fn the_error_may_be_shaped_by_a_path() {
    fn wrap(gave_up: GaveUp<String>) -> String {
        gave_up.to_string()
    }

    scripted! {
        #[retry(max = 1, backoff = "none", give_up = wrap, on = |_| true)]
        fn call() -> Result<(), String> = Err(String::from("503"));
        #[retry(give_up = wrap, on = |_| false)]
        fn once() -> Result<(), String> = Err(String::from("401"));
    }

    let error = call().unwrap_err();
    assert!(error.starts_with("gave up after 2 attempts in "), "{error}");
    assert!(error.ends_with(" (exhausted): 503"), "{error}");
    let error = once().unwrap_err();
    assert!(error.starts_with("gave up after 1 attempt in "), "{error}");
}

#[tokio::test(start_paused = true)]
async fn a_fallback_may_be_a_closure_a_path_or_a_block() {
    struct Client(usize);

    impl Client {
        scripted! {
            #[retry(max = 1, jitter = "none", fallback = async |gave_up| self.other_model(gave_up).await)]
            async fn call(&self, script: &mut Script) -> Result<usize, Failure> = script.next();
        }

        async fn other_model(&self, gave_up: GaveUp<Failure>) -> Result<usize, Failure> {
            sleep(secs(1)).await;
            match gave_up.reason() {
                Reason::NotRetryable => Err(gave_up.into_error()),
                _ => Ok(self.0 + gave_up.into_errors().len()),
            }
        }
    }

    async fn cached(gave_up: GaveUp<Failure>) -> Result<usize, Failure> {
        Ok(gave_up.attempts() as usize + 40)
    }

    scripted! {
        #[retry(max = 1, backoff = "none", fallback = |gave_up| match gave_up.error() {
            error if *error == STOP => Err(STOP),
            _ => Ok(script.attempts + 100),
        })]
        fn blocking(script: &mut Script) -> Result<usize, Failure> = script.next();
        #[retry(max = 1, jitter = "none", fallback = cached)] async fn path();
    }

    let client = Client(100);
    assert_rows! {
        client.call(&mut Script::new([TRANSIENT])).await => Ok(2);
        client.call(&mut Script::new([TRANSIENT, TIMEOUT])).await => Ok(102);
        client.call(&mut Script::new([STOP])).await => Err(STOP);
        blocking(&mut Script::new([TRANSIENT, TRANSIENT])) => Ok(102);
        blocking(&mut Script::new([STOP])) => Err(STOP);
        path(&mut Script::new([TRANSIENT, TRANSIENT])).await => Ok(42);
    }
}

#[test]
fn the_fallback_is_reported_after_corrections() {
    scripted! {
        #[retry(name = "call", on = |_| false, validate = |_| Err(String::from("wrong")),
            correct = |_, _| Err(String::from("no idea")), fallback = |_| Ok(7))]
        fn corrected() -> Result<usize, String> = Ok(1);
    }

    let recording = testing::record();
    assert_eq!(corrected(), Ok(7));
    let lines = recording.lines();
    assert!(lines[0].starts_with("correcting call "));
    let expected = [
        "falling back call attempt=1 corrections=1 max=3 error=no idea reason=correction failed",
        "fell back call attempt=1 corrections=1 max=3",
    ];
    assert_eq!(lines[1..], expected);
}

type Fallback = fn(GaveUp<String>) -> Result<(), String>;

#[test]
fn a_fallback_that_returns_the_error_of_the_call_keeps_its_reason() {
    scripted! {
        #[retry(max = 0, name = "call", on = |_| true, fallback = fallback, observe = |event| {
            if let EventData::GaveUp { reason, .. } = event.data {
                ends.push(format!("{} {reason}", event.attempt));
            }
        })]
        fn call(ends: &mut Vec<String>, fallback: Fallback) -> Result<(), String> = Err(String::from("busy"));
    }

    for (fallback, error, end) in rows! {
        (|gave_up| Err(gave_up.into_error())) as Fallback, None, "1 exhausted";
        |gave_up| Err(gave_up.into_errors().remove(0)), None, "1 exhausted";
        // Another error with the same text.
        |_| Err(String::from("busy")), Some("busy"), "1 fallback failed";
        |gave_up| Err(gave_up.into_error() + ", too"), Some("busy, too"), "1 fallback failed";
    } {
        let (recording, mut ends) = (testing::record(), Vec::new());
        assert!(call(&mut ends, fallback).is_err());
        let falling = "falling back call attempt=1 max=0 error=busy reason=exhausted";
        let failed =
            |error| format!("gave up call attempt=1 max=0 error={error} reason=fallback failed");
        let mut lines = vec![falling.to_owned()];
        lines.extend(error.map(failed));
        assert_eq!((recording.lines(), ends), (lines, vec![end.to_owned()]));
    }
    let recording = testing::record();
    let chain = Policy::new().max(0).on(|_: &String| true).name("call");
    let chain = chain.fallback(|gave_up: GaveUp<String>| Err::<(), _>(gave_up.into_error()));
    let called = chain.call_blocking(|| Err(String::from("busy")));
    assert_eq!(called, Err(String::from("busy")));
    assert_eq!(recording.lines().len(), 1);
}
