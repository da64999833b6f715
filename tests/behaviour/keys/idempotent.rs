use retry_runtime::{Verdict, retry, testing};
use support::failure::{Failure, THROTTLED, TIMEOUT, TRANSIENT};

use crate::keys::Script;

const RESET: Failure = Failure(Verdict::TRANSIENT.ambiguous());

#[retry(max = 9, backoff = "none", idempotent = false)]
fn charge(script: &mut Script) -> Result<usize, Failure> {
    script.next()
}

#[retry(max = 9, backoff = "none", idempotent = is_idempotent)]
fn computed(script: &mut Script, is_idempotent: bool) -> Result<usize, Failure> {
    script.next()
}

#[test]
fn ambiguous_failures_are_not_retried() {
    for ambiguous in [RESET, TIMEOUT] {
        let recording = testing::record();
        let mut script = Script::new([TRANSIENT, THROTTLED, ambiguous.clone()]);
        assert_eq!(charge(&mut script), Err(ambiguous));
        assert_eq!(script.attempts, 3);
        assert!(recording.lines()[2].ends_with("reason=ambiguous"));
    }
}

#[test]
fn all_are_retried_by_default() {
    for (is_idempotent, attempts) in [(true, 3), (false, 1)] {
        let mut script = Script::new([RESET, TIMEOUT]);
        assert_eq!(computed(&mut script, is_idempotent).is_ok(), is_idempotent);
        assert_eq!(script.attempts, attempts);
    }
}
