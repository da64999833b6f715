//! The pause of a round: the policy's delay or the longest hint of the round's failures, whichever is longer.

use retry_work::Batches;
use support::prelude::*;

use super::{EXACT, Fails, NONE, Results, Server, check, errors, secs};

#[tokio::test(start_paused = true)]
async fn the_longest_delay_counts() {
    let hinted = || -> Fails {
        vec![
            (0..1, vec![throttled_for(secs(3))]),
            (1..2, vec![THROTTLED]),
            (3..4, vec![throttled_for(secs(7))]),
        ]
    };
    let long = |hint| (0..1, vec![throttled_for(secs(hint))]);
    let of_throttled = Section::new().max(3).base(secs(10)).cap(secs(100));
    let kinds = EXACT.max(1).throttled(of_throttled);
    let two = |policy: Policy| -> Batches { policy.batches(2) };
    check(Duration::ZERO, rows! {
        "delays grow from round to round", two(EXACT), 4, vec![(0..4, vec![TRANSIENT; 3])],
            "0: 0 1; 0: 2 3; 1: 0 1; 1: 2 3; 3: 0 1; 3: 2 3; 7: 0 1; 7: 2 3", &[];
        "hints", two(EXACT), 4, hinted(), "0: 0 1; 0: 2 3; 7: 0 1; 7: 3", &[];
        "ignored hints", two(EXACT.hint(Hint::Ignore)), 4, hinted(),
            "0: 0 1; 0: 2 3; 1: 0 1; 1: 3", &[];
        "clamped hints", two(EXACT.hint(Hint::Clamp)), 4, hinted(),
            "0: 0 1; 0: 2 3; 6: 0 1; 6: 3", &[];
        "a hint that is too long gives up only its item", two(EXACT), 4,
            vec![long(121), (1..2, vec![throttled_for(secs(120))]), (2..3, vec![TRANSIENT])],
            "0: 0 1; 0: 2 3; 120: 1 2", &["0: 1 attempt (hint too long): throttled"];
        // Item 0 is throttled always, 1 busy always, 2 busy once after it was throttled once.
        "each kind has its own numbers for each item", two(kinds), 4,
            vec![(0..1, vec![THROTTLED; 9]), (1..2, vec![TRANSIENT; 9]), (2..3, vec![THROTTLED, TRANSIENT])],
            "0: 0 1; 0: 2 3; 10: 0 1; 10: 2; 30: 0 2; 70: 0",
            &["0: 4 attempts (exhausted): throttled", "1: 2 attempts (exhausted): transient"];
    })
    .await;
}

#[tokio::test(start_paused = true)]
async fn a_hint_that_is_too_long_is_logged_once() {
    let recording = testing::record();
    let server = Server::new([(0..1, vec![throttled_for(secs(121))])]);
    server.run(EXACT, 4).await;
    let wait = "; the server asks to wait 2m1s reason=hint too long";
    let lines = recording.lines();
    let records = lines.iter().filter(|line| line.ends_with(wait));
    assert_eq!(records.count(), 1, "{lines:?}");
}

#[tokio::test(start_paused = true)]
async fn a_hint_of_the_whole_call_counts() {
    let server = Server::failing([throttled_for(secs(5))]);
    let results = server.run(EXACT.batches(2), 3).await;
    assert_eq!(errors(&results), NONE);
    assert_eq!(server.calls(), "0: 0 1; 0: 2; 5: 0 1");
}

/// The delays of a batch that never succeeds.
async fn delays(policy: Policy, items: u32) -> Vec<Duration> {
    let recording = testing::record();
    let results: Results = retry_each(policy, 0..items, async |pending: Vec<u32>| {
        Ok(pending.iter().map(|_| Err(TRANSIENT)).collect())
    })
    .await;
    assert!(results.iter().all(Result::is_err));
    recording.delays()
}

#[tokio::test(start_paused = true)]
async fn jitter_is_drawn_once_for_all_items_with_the_same_failure() {
    let delays = delays(Policy::fixed(secs(100)).cap(secs(100)).max(8), 1000).await;
    assert_eq!(delays.len(), 8);
    // The longest of 1000 draws from 0–100 s would hardly ever be below 90 s.
    assert!(delays.iter().any(|delay| *delay < secs(90)), "{delays:?}");
}

#[tokio::test(start_paused = true)]
async fn decorrelated_jitter_builds_on_the_delay_before() {
    let _seeded = testing::seed(7);
    let policy = Policy::new().jitter(Jitter::Decorrelated).max(6);
    let mut before = secs(1);
    for delay in delays(policy, 2).await {
        let range = secs(1)..=3 * before;
        assert!(range.contains(&delay), "{delay:?} after {before:?}");
        before = delay;
    }
    assert!(before > secs(3), "{before:?}");
}
