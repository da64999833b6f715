//! The pause of a round: the longer one of the policy's delay and the longest hint of its failures.

use retry_runtime::{Hint, Jitter, Policy, Reason, Section, testing};
use retry_work::{IntoBatches, retry_each};
use support::failure::{Failure, THROTTLED, TRANSIENT, throttled_for};

use super::{Answer, EXACT, Results, Server, outcomes, secs};

/// Sends 4 items, two to a call.
async fn run(
    policy: Policy,
    answer: impl Fn(u32, usize) -> Answer,
) -> (Vec<(u64, Vec<u32>)>, Results) {
    let server = Server::new(answer);
    let items = [0, 1, 2, 3];
    let results = retry_each(policy.batches(2), &items, async |pending| {
        Ok(server.call(&pending))
    })
    .await;
    (server.calls(), results)
}

/// The calls after the first round.
async fn retries(policy: Policy, answer: impl Fn(u32, usize) -> Answer) -> Vec<(u64, Vec<u32>)> {
    let (mut calls, results) = run(policy, answer).await;
    assert!(results.iter().all(Result::is_ok), "{results:?}");
    assert_eq!(calls[..2], [(0, vec![0, 1]), (0, vec![2, 3])]);
    calls.split_off(2)
}

#[tokio::test(start_paused = true)]
async fn grow_from_round_to_round() {
    let answer = |item, attempt| {
        if attempt < 4 {
            Err(TRANSIENT)
        } else {
            Ok(item)
        }
    };
    let (calls, _) = run(EXACT, answer).await;
    let times: Vec<_> = calls.iter().map(|call| call.0).collect();
    assert_eq!(times, [0, 0, 1, 1, 3, 3, 7, 7]);
}

#[tokio::test(start_paused = true)]
async fn the_longest_hint_counts() {
    let answer = |item, attempt| match (item, attempt) {
        (0, 1) => Err(throttled_for(secs(3))),
        (1, 1) => Err(THROTTLED),
        (3, 1) => Err(throttled_for(secs(7))),
        _ => Ok(item),
    };
    assert_eq!(
        retries(EXACT, answer).await,
        [(7, vec![0, 1]), (7, vec![3])]
    );
    let policy = EXACT.hint(Hint::Ignore);
    assert_eq!(
        retries(policy, answer).await,
        [(1, vec![0, 1]), (1, vec![3])]
    );
    let policy = EXACT.hint(Hint::Clamp);
    assert_eq!(
        retries(policy, answer).await,
        [(6, vec![0, 1]), (6, vec![3])]
    );
}

#[tokio::test(start_paused = true)]
async fn a_hint_that_is_too_long_gives_up_only_its_item() {
    let answer = |item, attempt| match (item, attempt) {
        (0, 1) => Err(throttled_for(secs(121))),
        (1, 1) => Err(throttled_for(secs(120))),
        (2, 1) => Err(TRANSIENT),
        _ => Ok(item),
    };
    let recording = testing::record();
    let (calls, results) = run(EXACT, answer).await;
    assert_eq!(calls[2..], [(120, vec![1, 2])]);
    let wait = "; the server asks to wait 2m1s reason=hint too long";
    let lines = recording.lines();
    let told = lines.iter().filter(|line| line.ends_with(wait));
    assert_eq!(told.count(), 1, "{lines:?}");
    let error = results[0].as_ref().unwrap_err();
    assert_eq!((error.attempts(), error.reason()), (1, Reason::HintTooLong));
    assert!(results[1..].iter().all(Result::is_ok));
}

#[tokio::test(start_paused = true)]
async fn a_hint_of_the_whole_call_counts() {
    let server = Server::new(|item, _| Ok(item));
    let items = [0, 1, 2];
    let results = retry_each(EXACT.batches(2), &items, async |pending| {
        let first = server.calls().is_empty();
        let answers = server.call(&pending);
        if first {
            Err(throttled_for(secs(5)))
        } else {
            Ok(answers)
        }
    });
    assert_eq!(results.await, items.map(Ok));
    assert_eq!(
        server.calls(),
        [(0, vec![0, 1]), (0, vec![2]), (5, vec![0, 1])]
    );
}

#[tokio::test(start_paused = true)]
async fn each_kind_has_its_own_numbers_for_each_item() {
    let policy = EXACT
        .max(1)
        .throttled(Section::new().max(3).base(secs(10)).cap(secs(100)));
    // Item 0 is throttled always, 1 busy always, 2 busy once after it was throttled once.
    let answer = |item, attempt| match (item, attempt) {
        (0, _) | (2, 1) => Err(THROTTLED),
        (1, _) | (2, 2) => Err(TRANSIENT),
        _ => Ok(item),
    };
    let (calls, results) = run(policy, answer).await;
    let retries = [
        (10, vec![0, 1]),
        (10, vec![2]),
        (30, vec![0, 2]),
        (70, vec![0]),
    ];
    assert_eq!(calls[2..], retries);
    let expected = [
        Err("gave up after 4 attempts (exhausted): throttled"),
        Err("gave up after 2 attempts (exhausted): transient"),
        Ok(2),
        Ok(3),
    ];
    assert_eq!(
        outcomes(&results),
        expected.map(|result| result.map_err(String::from))
    );
}

#[tokio::test(start_paused = true)]
async fn jitter_is_drawn_once_for_all_items_with_the_same_failure() {
    let recording = testing::record();
    let items: Vec<u32> = (0..1000).collect();
    let policy = Policy::fixed(secs(100)).cap(secs(100)).max(8);
    let results: Vec<Result<u32, _>> = retry_each(&policy, &items, async |pending: Vec<&u32>| {
        Ok(pending
            .iter()
            .map(|_| Err(Failure(retry_runtime::Verdict::TRANSIENT)))
            .collect())
    })
    .await;
    assert!(results.iter().all(Result::is_err));
    let delays = recording.delays();
    assert_eq!(delays.len(), 8);
    // The longest of 1000 draws from 0–100 s would hardly ever be below 90 s.
    assert!(delays.iter().any(|delay| *delay < secs(90)), "{delays:?}");
}

#[tokio::test(start_paused = true)]
async fn decorrelated_jitter_builds_on_the_delay_before() {
    let seeded = testing::seed(7);
    let recording = testing::record();
    let policy = Policy::new().jitter(Jitter::Decorrelated).max(6);
    let results: Vec<Result<u32, _>> = retry_each(&policy, [1, 2], async |_| {
        Err(Failure(retry_runtime::Verdict::TRANSIENT))
    })
    .await;
    assert!(results.iter().all(Result::is_err));
    let mut before = secs(1);
    for delay in recording.delays() {
        assert!(
            delay >= secs(1) && delay <= 3 * before,
            "{delay:?} after {before:?}"
        );
        before = delay;
    }
    assert!(before > secs(3), "{before:?}");
    drop(seeded);
}
