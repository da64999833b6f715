use support::prelude::*;

scripted! {
    #[retry(backoff = "none")] fn by_default();
    #[retry(max = 0)] fn zero();
    #[retry(max(1), backoff("none"))] fn in_parentheses();
    #[retry(max = "unlimited", backoff = "none")] fn unlimited();
    #[retry(max = 7 - script.attempts, backoff = "none")]
    fn shrinking(script: &mut Script) -> Result<usize, Failure> = script.next();
    #[retry(max = limit, backoff = "none")]
    fn signed(script: &mut Script, limit: i64) -> Result<usize, Failure> = script.next();
}

fn attempts(call: impl FnOnce(&mut Script) -> Result<usize, Failure>) -> usize {
    let mut script = Script::new(vec![TRANSIENT; 1000]);
    let outcome = call(&mut script);
    match outcome {
        Ok(attempt) => assert_eq!(attempt, script.attempts),
        Err(error) => assert_eq!(error, TRANSIENT),
    }
    script.attempts
}

#[test]
fn counts_retries_after_the_first_attempt() {
    assert_eq!(attempts(by_default), 4);
    assert_eq!(attempts(zero), 1);
    assert_eq!(attempts(in_parentheses), 2);
    assert_eq!(attempts(unlimited), 1001);
}

#[test]
fn may_be_any_integer() {
    assert_eq!(attempts(|script| signed(script, 2)), 3);
    assert_eq!(attempts(|script| signed(script, -5)), 1);
    assert_eq!(attempts(|script| signed(script, i64::MAX)), 1001);
}

#[test]
fn may_shrink_while_the_call_runs() {
    // The limit is 6 after the first failure, 5 after the second, …, 3 after the fourth: no retry is left.
    assert_eq!(attempts(shrinking), 4);
}

#[test]
fn a_success_ends_the_call() {
    assert_eq!(run!([TRANSIENT], |script| by_default(script)), (Ok(2), 2));
}
