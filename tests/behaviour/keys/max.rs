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
    let (outcome, attempts) = run!(vec![TRANSIENT; 1000], |script| call(script));
    assert!(outcome == Err(TRANSIENT) || outcome == Ok(attempts));
    attempts
}

#[test]
fn counts_retries_after_the_first_attempt() {
    assert_rows! {
        attempts(by_default) => 4;
        attempts(zero) => 1;
        attempts(in_parentheses) => 2;
        attempts(unlimited) => 1001;
        // It may be any integer.
        attempts(|script| signed(script, 2)) => 3;
        attempts(|script| signed(script, -5)) => 1;
        attempts(|script| signed(script, i64::MAX)) => 1001;
        // It may shrink: 6 after the first failure, 5 after the second, …, 3 after the fourth. No retry is left.
        attempts(shrinking) => 4;
    }
}
