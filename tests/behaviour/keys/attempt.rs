use retry_runtime::{Attempt, CallId};
use support::prelude::*;

/// The number of an attempt, the limit, whether it is the last, its elapsed time and the errors before it.
type Seen = (u32, Option<u32>, bool, Duration, Vec<Failure>);

fn see(attempt: &Attempt<Failure>) -> Seen {
    assert_eq!(attempt.last_error(), attempt.errors().last());
    (
        attempt.number(),
        attempt.max(),
        attempt.is_last(),
        attempt.elapsed(),
        attempt.errors().to_vec(),
    )
}

#[retry(max = 2, jitter = "none", attempt = this)]
async fn call(script: &mut Script, log: &mut Vec<Seen>) -> Result<usize, Failure> {
    // It works in closures, too.
    log.extend(std::iter::once_with(|| see(this)));
    script.next()
}

#[tokio::test(start_paused = true)]
async fn the_body_sees_the_attempt() {
    let mut log = Vec::new();
    let mut script = Script::new([TRANSIENT, THROTTLED, STOP]);
    assert_eq!(call(&mut script, &mut log).await, Err(STOP));
    let expected = rows! {
        1, Some(2), false, secs(0), vec![];
        2, Some(2), false, secs(1), vec![TRANSIENT];
        3, Some(2), true, secs(3), vec![TRANSIENT, THROTTLED];
    };
    assert_eq!(log, expected);
}

#[test]
fn a_limit_is_shown_as_it_was_at_the_start_or_at_the_last_failure() {
    #[retry(max = limits.remove(0), backoff = "none", attempt = attempt)]
    fn call(limits: &mut Vec<u32>, log: &mut Vec<Option<u32>>) -> Result<(), Failure> {
        log.push(attempt.max());
        Err(TRANSIENT)
    }

    let mut log = Vec::new();
    // One at the start, one for each failure.
    assert_eq!(call(&mut vec![5, 5, 4, 1], &mut log), Err(TRANSIENT));
    assert_eq!(log, [Some(5), Some(5), Some(4)]);
}

#[test]
fn the_call_id_is_one_per_call() {
    #[retry(policy = Policy::none(), attempt = attempt)]
    fn call(script: &mut Script, ids: &mut Vec<CallId>) -> Result<usize, Failure> {
        ids.push(attempt.call_id());
        assert_eq!(attempt.call_id(), attempt.call_id());
        script.next()
    }

    let mut ids = Vec::new();
    call(&mut Script::new([TRANSIENT, TRANSIENT]), &mut ids).unwrap();
    call(&mut Script::new([TRANSIENT]), &mut ids).unwrap();
    assert!(ids[0] == ids[1] && ids[1] == ids[2] && ids[3] == ids[4] && ids[2] != ids[3]);

    let text = ids[0].to_string();
    let parts: Vec<_> = text.split('-').map(str::len).collect();
    assert_eq!(parts, [8, 4, 4, 4, 12], "{text}");
    assert_eq!(&text[14..15], "4", "the version of a random UUID");
    assert!(matches!(&text[19..20], "8" | "9" | "a" | "b"), "{text}");
    let expected = Ok(ids[0].as_u128());
    assert_eq!(u128::from_str_radix(&text.replace('-', ""), 16), expected);
}

/// An error with a number.
#[derive(Clone, Debug, PartialEq)]
struct Numbered(u32);

#[test]
fn the_first_10_errors_and_the_last_100_are_kept() {
    #[retry(max = "unlimited", backoff = "none", attempt = attempt, on = |error: &Numbered| error.0 < 100_000,
        give_up = |gave_up: GaveUp<Numbered>| {
            assert_eq!((gave_up.attempts(), gave_up.reason()), (100_000, Reason::NotRetryable));
            assert_eq!(gave_up.errors_left_out(), 100_000 - 111);
            let numbers: Vec<_> = gave_up.errors().map(|error| error.0).collect();
            assert!(numbers.iter().copied().eq((1..=10).chain(99_900..=100_000)));
            assert_eq!(gave_up.clone().into_errors().len(), 111);
            gave_up.into_error()
        })]
    fn call() -> Result<(), Numbered> {
        let number = attempt.number();
        assert_eq!((attempt.max(), attempt.is_last()), (None, false));
        assert!(attempt.errors().len() <= 110);
        let kept = u64::try_from(attempt.errors().len()).unwrap();
        assert_eq!(kept + attempt.errors_left_out(), u64::from(number) - 1);
        let last = attempt.last_error().map(|error| error.0);
        assert_eq!(last, (number > 1).then(|| number - 1));
        Err(Numbered(number))
    }

    assert_eq!(call(), Err(Numbered(100_000)));
}
