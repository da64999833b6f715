use std::time::Duration;

use retry_runtime::{Backoff, Jitter, Kind, Policy, Verdict, retry, testing};
use support::failure::{Failure, STOP, THROTTLED, TIMEOUT, TRANSIENT};

use crate::keys::{Script, millis, secs};

fn run(
    steps: Vec<Failure>,
    call: fn(&mut Script) -> Result<usize, Failure>,
) -> (Result<usize, Failure>, Vec<Duration>) {
    let _skipped = testing::skip_sleeps();
    let recording = testing::record();
    let outcome = call(&mut Script::new(steps));
    (outcome, recording.delays())
}

#[retry(
    max = 2,
    jitter = "none",
    throttled(max = 3, base = "10s", backoff = "fixed"),
    timed_out(max = 0)
)]
fn own_counts(script: &mut Script) -> Result<usize, Failure> {
    script.next()
}

#[test]
fn a_section_with_a_max_has_its_own_count() {
    let steps = vec![THROTTLED, TRANSIENT, THROTTLED, TRANSIENT, THROTTLED];
    assert_eq!(
        run(steps.clone(), own_counts),
        (Ok(6), vec![secs(10), secs(1), secs(10), secs(2), secs(10)])
    );
    let throttled_out = [steps.clone(), vec![THROTTLED]].concat();
    assert_eq!(run(throttled_out, own_counts).0, Err(THROTTLED));
    let transient_out = [steps, vec![TRANSIENT]].concat();
    assert_eq!(run(transient_out, own_counts).0, Err(TRANSIENT));
}

#[test]
fn a_section_may_forbid_its_kind() {
    assert_eq!(run(vec![TIMEOUT], own_counts), (Err(TIMEOUT), vec![]));
    assert_eq!(
        run(vec![TRANSIENT, TIMEOUT], own_counts),
        (Err(TIMEOUT), vec![secs(1)])
    );
}

scripted! {
    #[retry(max = 3, jitter = "none", throttled(base = "10s"), timed_out(backoff = "none"))]
    fn shared_count();
}

#[test]
fn a_section_without_a_max_shares_the_count() {
    // Like in AWS SDKs, the exponent counts all retries, and the current failure selects the base.
    assert_eq!(
        run(vec![THROTTLED, TRANSIENT, THROTTLED], shared_count),
        (Ok(4), vec![secs(10), secs(2), secs(30)])
    );
    assert_eq!(
        run(vec![TIMEOUT, THROTTLED, TIMEOUT, TIMEOUT], shared_count),
        (Err(TIMEOUT), vec![secs(0), secs(20), secs(0)])
    );
}

#[test]
fn every_number_may_be_an_expression() {
    #[retry(
        jitter = "none",
        transient(
            max = script.steps.len() as u64,
            backoff = Backoff::Linear,
            base = millis(5),
            cap = millis(12),
            jitter = Jitter::None,
        ),
        throttled(factor = 3.0, base = 1ms),
    )]
    fn call(script: &mut Script) -> Result<usize, Failure> {
        script.next()
    }

    assert_eq!(
        run(vec![TRANSIENT, TRANSIENT, TRANSIENT, TRANSIENT], call),
        (Ok(5), vec![millis(5), millis(10), millis(12), millis(12)])
    );
    assert_eq!(
        run(vec![THROTTLED, THROTTLED, THROTTLED], call),
        (Ok(4), vec![millis(1), millis(3), millis(9)])
    );
}

#[test]
fn a_section_may_have_its_own_jitter() {
    scripted! {
        #[retry(max = 9, backoff = "fixed", jitter = "none", throttled(jitter = "equal"))]
        fn call();
    }

    let (_, pauses) = run(vec![TRANSIENT, THROTTLED, TRANSIENT, THROTTLED], call);
    assert_eq!((pauses[0], pauses[2]), (secs(1), secs(1)));
    for pause in [pauses[1], pauses[3]] {
        assert!(
            pause >= millis(500) && pause <= secs(1) && pause != secs(1),
            "{pause:?}"
        );
    }
}

#[test]
fn on_may_return_a_kind() {
    #[retry(max = 2, jitter = "none", throttled(max = 1), on = |_| kind)]
    fn call(script: &mut Script, kind: Kind) -> Result<usize, Failure> {
        script.next()
    }

    for (kind, attempts) in [
        (Kind::Throttled, 2),
        (Kind::Transient, 3),
        (Kind::Timeout, 3),
    ] {
        let _skipped = testing::skip_sleeps();
        let mut script = Script::new(vec![STOP; 9]);
        assert_eq!(call(&mut script, kind), Err(STOP));
        assert_eq!(script.attempts, attempts);
        assert_eq!(Verdict::from(kind).kind(), Some(kind));
    }
}

#[test]
fn the_log_shows_the_max_of_the_policy_for_any_count() {
    let numbers = |steps: &[Failure]| {
        let _skipped = testing::skip_sleeps();
        let recording = testing::record();
        let _ = own_counts(&mut Script::new(steps.to_vec()));
        let number = |line: &str, name| {
            let (_, rest) = line.split_once(name).unwrap();
            rest.split(' ').next().unwrap().parse::<u32>().unwrap()
        };
        let lines = recording.lines().into_iter();
        lines
            .map(|line| (number(&line, "attempt="), number(&line, "max=")))
            .collect::<Vec<_>>()
    };
    let steps = [THROTTLED, TRANSIENT, THROTTLED, TRANSIENT, THROTTLED];
    let all = [(1, 2), (2, 2), (3, 2), (4, 2), (5, 2), (6, 2)];
    assert_eq!(numbers(&steps), all);
    let throttled_out = [&steps[..], &[THROTTLED]].concat();
    assert_eq!(numbers(&throttled_out), all);
    let transient_out = [&steps[..], &[TRANSIENT]].concat();
    assert_eq!(numbers(&transient_out), all);
    assert_eq!(numbers(&[TRANSIENT, TIMEOUT]), [(1, 2), (2, 2)]);
}

/// Each class has its own limit and delay, under one total; what is unauthorized is tried again once, at once.
#[retry(
    attempt = attempt,
    on = |error| {
        let class = |other: &Failure| other.0.kind();
        let earlier = attempt.errors().iter().filter(|other| class(other) == class(error)).count();
        earlier < if *error == THROTTLED { 2 } else { 1 }
    },
    policy = |error| Policy::fixed(if *error == THROTTLED { secs(5) } else { secs(0) })
        .max(3)
        .jitter(Jitter::None)
)]
fn classes(script: &mut Script) -> Result<usize, Failure> {
    script.next()
}

#[test]
fn on_and_policy_may_count_classes_of_ones_own() {
    for (steps, outcome, delays) in [
        (vec![THROTTLED, TIMEOUT, THROTTLED], Ok(4), vec![5, 0, 5]),
        (vec![TIMEOUT, THROTTLED, TIMEOUT], Err(TIMEOUT), vec![0, 5]),
        (vec![THROTTLED; 3], Err(THROTTLED), vec![5, 5]),
        (
            vec![THROTTLED, TIMEOUT, THROTTLED, TRANSIENT],
            Err(TRANSIENT),
            vec![5, 0, 5],
        ),
    ] {
        let delays = delays.into_iter().map(secs).collect();
        assert_eq!(run(steps, classes), (outcome, delays));
    }
}
