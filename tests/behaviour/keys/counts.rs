//! The number of retries: of all kinds, and of sections.

use support::prelude::*;

fn run(
    steps: Vec<Failure>,
    call: fn(&mut Script) -> Result<usize, Failure>,
) -> (Result<usize, Failure>, Vec<Duration>) {
    let _skipped = testing::skip_sleeps();
    let recording = testing::record();
    let outcome = call(&mut Script::new(steps));
    (outcome, recording.delays())
}

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
fn max_counts_retries_after_the_first_attempt() {
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

#[test]
fn every_number_may_be_an_expression() {
    scripted! {
        #[retry(jitter = "none", transient(max = script.steps.len() as u64, backoff = Backoff::Linear, base = millis(5),
            cap = millis(12), jitter = Jitter::None), throttled(factor = 3.0, base = 1ms))]
        fn call(script: &mut Script) -> Result<usize, Failure> = script.next();
    }

    assert_rows! {
        run(vec![TRANSIENT; 4], call) => (Ok(5), [5, 10, 12, 12].map(millis).to_vec());
        run(vec![THROTTLED; 3], call) => (Ok(4), [1, 3, 9].map(millis).to_vec());
    }
}

#[test]
fn a_section_may_have_its_own_jitter() {
    scripted! { #[retry(max = 9, backoff = "fixed", jitter = "none", throttled(jitter = "equal"))] fn call(); }

    let (_, pauses) = run(vec![TRANSIENT, THROTTLED, TRANSIENT, THROTTLED], call);
    assert_eq!((pauses[0], pauses[2]), (secs(1), secs(1)));
    for pause in [pauses[1], pauses[3]] {
        assert!((millis(500)..secs(1)).contains(&pause), "{pause:?}");
    }
}

#[test]
fn on_may_return_a_kind() {
    scripted! { #[retry(max = 2, jitter = "none", throttled(max = 1), on = |_| kind)] fn call(kind: Kind); }

    for (kind, attempts) in [
        (Kind::Throttled, 2),
        (Kind::Transient, 3),
        (Kind::Timeout, 3),
    ] {
        let _skipped = testing::skip_sleeps();
        let ran = run!([STOP; 9], |script| call(kind, script));
        assert_eq!(ran, (Err(STOP), attempts));
        assert_eq!(Verdict::from(kind).kind(), Some(kind));
    }
}

/// Each class has its own limit and delay, under one total; what is unauthorized is tried again once, at once.
#[retry(attempt = attempt, on = |error| {
        let class = |other: &Failure| other.0.kind();
        let earlier = attempt.errors().iter().filter(|other| class(other) == class(error)).count();
        earlier < if *error == THROTTLED { 2 } else { 1 }
    },
    policy = |error| Policy::fixed(if *error == THROTTLED { secs(5) } else { secs(0) }).max(3).jitter(Jitter::None))]
fn classes(script: &mut Script) -> Result<usize, Failure> {
    script.next()
}

#[test]
fn on_and_policy_may_count_classes_of_ones_own() {
    for (steps, outcome, delays) in rows! {
        vec![THROTTLED, TIMEOUT, THROTTLED], Ok(4), vec![5, 0, 5];
        vec![TIMEOUT, THROTTLED, TIMEOUT], Err(TIMEOUT), vec![0, 5];
        vec![THROTTLED; 3], Err(THROTTLED), vec![5, 5];
        vec![THROTTLED, TIMEOUT, THROTTLED, TRANSIENT], Err(TRANSIENT), vec![5, 0, 5];
    } {
        let delays = delays.into_iter().map(secs).collect();
        assert_eq!(run(steps, classes), (outcome, delays));
    }
}
