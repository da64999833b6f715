//! Numbers published with AWS's "Retry Behavior 2.1" (default of the SDKs from 2026-11-10), as far as they
//! concern delays and hints. The jitter factor is 1 in these tables, as in the SDKs' own tests: no jitter here.
//!
//! Sources: smithy-kotlin `NewStandardRetryIntegrationTestResources.kt`, smithy-rs `standard.rs`,
//! smithy-typescript `util-retry/retries.integ.spec.ts`, botocore `test_standard_retry_v2_1.py`.

use std::time::Duration;

use retry_runtime::{Hint, Jitter, Policy, Section, Verdict, testing};

const fn millis(millis: u64) -> Duration {
    Duration::from_millis(millis)
}

/// 3 attempts, 50 ms, doubling, 20 s; throttling from 1 s.
const AWS: Policy = Policy::exponential()
    .max(2)
    .base(millis(50))
    .cap(Duration::from_secs(20))
    .jitter(Jitter::None)
    .hint(Hint::Clamp)
    .throttled(Section::new().base(Duration::from_secs(1)));

/// The delays before the attempts that follow those failures, in milliseconds, and whether the call succeeded.
fn steps(policy: &Policy, failures: &[Verdict]) -> (Vec<u128>, bool) {
    let _skipped = testing::skip_sleeps();
    let recording = testing::record();
    let mut failures = failures.iter();
    let outcome = policy
        .on(|verdict: &Verdict| *verdict)
        .call_blocking(|| failures.next().map_or(Ok(()), |verdict| Err(*verdict)));
    let delays = recording.delays().iter().map(Duration::as_millis).collect();
    (delays, outcome.is_ok())
}

const FAULT: Verdict = Verdict::TRANSIENT;
const THROTTLING: Verdict = Verdict::THROTTLED;

#[test]
fn single_invocations() {
    assert_eq!(
        steps(&AWS, &[FAULT, FAULT]),
        (vec![50, 100], true),
        "eventually succeeds"
    );
    assert_eq!(
        steps(&AWS, &[FAULT; 3]),
        (vec![50, 100], false),
        "max attempts"
    );
    assert_eq!(
        steps(&AWS.max(4), &[FAULT; 5]),
        (vec![50, 100, 200, 400], false),
        "backoff timing"
    );
    assert_eq!(
        steps(&AWS.max(4).cap(millis(200)), &[FAULT; 5]),
        (vec![50, 100, 200, 200], false),
        "max backoff"
    );
    assert_eq!(steps(&AWS, &[THROTTLING]), (vec![1000], true), "throttling");
}

#[test]
fn retry_after() {
    for (hint, delay) in [
        (1500, 1500),
        (0, 50),
        (10_000, 5050),
        (3000, 3000),
        (10, 50),
    ] {
        let hinted = FAULT.after(millis(hint));
        assert_eq!(steps(&AWS, &[hinted]), (vec![delay], true), "{hint} ms");
    }
    assert_eq!(steps(&AWS, &[FAULT]), (vec![50], true), "invalid header");
}

#[test]
fn dynamodb() {
    let policy = AWS.max(3).base(millis(25));
    assert_eq!(steps(&policy, &[FAULT; 4]), (vec![25, 50, 100], false));
}

#[test]
fn backoff_range() {
    let delays: Vec<_> = AWS
        .max(11)
        .delays()
        .map(|delay| delay.as_millis())
        .collect();
    assert_eq!(
        delays,
        [
            50, 100, 200, 400, 800, 1600, 3200, 6400, 12800, 20000, 20000
        ]
    );
}

#[test]
fn mixed_sequences_count_all_retries_and_take_the_base_of_the_failure() {
    let legacy = AWS
        .max(7)
        .base(millis(100))
        .throttled(Section::new().base(millis(500)));
    assert_eq!(
        steps(&legacy, &[FAULT; 8]),
        (vec![100, 200, 400, 800, 1600, 3200, 6400], false)
    );
    assert_eq!(
        steps(&legacy, &[THROTTLING; 8]),
        (vec![500, 1000, 2000, 4000, 8000, 16000, 20000], false)
    );
    let mixed = [
        THROTTLING, THROTTLING, FAULT, FAULT, FAULT, FAULT, THROTTLING,
    ];
    assert_eq!(
        steps(&AWS.max(7), &mixed),
        (vec![1000, 2000, 200, 400, 800, 1600, 20000], true)
    );
}
