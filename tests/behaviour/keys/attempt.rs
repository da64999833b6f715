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
    log.push(see(this));
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
fn unlimited_is_none_and_never_last() {
    #[retry(max = "unlimited", backoff = "none", attempt = attempt)]
    fn call(script: &mut Script) -> Result<usize, Failure> {
        assert_eq!((attempt.max(), attempt.is_last()), (None, false));
        script.next()
    }

    assert_eq!(call(&mut Script::new(vec![TRANSIENT; 50])), Ok(51));
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

#[test]
fn attempt_works_in_closures_and_inner_blocks() {
    #[retry(max = 1, backoff = "none", attempt = attempt)]
    fn call() -> Result<u32, Failure> {
        let number = || attempt.number();
        match number() {
            1 => Err(TRANSIENT),
            number => Ok(number),
        }
    }

    assert_eq!(call(), Ok(2));
}
