//! The policy's deadline applies to the whole batch: no call starts and no pause ends after it.

use std::time::Duration;

use retry_runtime::{Jitter, Policy, Reason, Section, testing};
use retry_work::{IntoBatches, ItemError, retry_each};
use support::failure::{STOP, THROTTLED, TRANSIENT, throttled_for};

use super::{Answer, EXACT, Results, Server, outcomes, secs};

/// Sends 6 items, two to a call, each call taking 2 seconds.
async fn run(
    policy: Policy,
    answer: impl Fn(u32, usize) -> Answer,
) -> (Vec<(u64, Vec<u32>)>, Results) {
    let server = Server::new(answer);
    let items = [0, 1, 2, 3, 4, 5];
    let results = retry_each(policy.batches(2), &items, async |pending| {
        let answers = server.call(&pending);
        tokio::time::sleep(secs(2)).await;
        Ok(answers)
    })
    .await;
    (server.calls(), results)
}

#[tokio::test(start_paused = true)]
async fn the_batch_ends_if_a_pause_would_pass_the_deadline() {
    let answer = |item, _| if item < 2 { Err(TRANSIENT) } else { Ok(item) };
    // A round of 6 s, a pause of 1 s, a call of 2 s, a pause of 2 s that would end at 11 s.
    let (calls, results) = run(EXACT.deadline(secs(10)), answer).await;
    assert_eq!(calls.last(), Some(&(7, vec![0, 1])));
    let gave_up = Err(String::from(
        "gave up after 2 attempts (deadline): transient",
    ));
    let expected = [gave_up.clone(), gave_up, Ok(2), Ok(3), Ok(4), Ok(5)];
    assert_eq!(outcomes(&results), expected);
    let (calls, _) = run(EXACT.deadline(secs(12)), answer).await;
    assert_eq!(calls.last(), Some(&(11, vec![0, 1])));
}

#[tokio::test(start_paused = true)]
async fn items_not_sent_before_the_deadline_are_marked() {
    let (calls, results) = run(EXACT.deadline(secs(3)), |item, _| Ok(item)).await;
    assert_eq!(calls, [(0, vec![0, 1]), (2, vec![2, 3])]);
    let not_sent = Err(String::from(
        "gave up after 0 attempts (deadline): not sent",
    ));
    let dropped = Err(String::from(
        "gave up after 1 attempt (deadline): dropped before an answer",
    ));
    assert_eq!(
        outcomes(&results),
        [
            Ok(0),
            Ok(1),
            dropped.clone(),
            dropped,
            not_sent.clone(),
            not_sent
        ]
    );
    let error = results[2].as_ref().unwrap_err();
    assert_eq!((error.error(), error.reason()), (None, Reason::Deadline));
    assert!(error.is_dropped() && !results[4].as_ref().unwrap_err().is_dropped());
    let error = results[5].as_ref().unwrap_err();
    assert_eq!((error.error(), error.reason()), (None, Reason::Deadline));
}

#[tokio::test(start_paused = true)]
async fn items_of_a_later_round_keep_their_error() {
    let (calls, results) = run(EXACT.deadline(secs(8)), |item, attempt| match attempt {
        1 => Err(TRANSIENT),
        _ => Ok(item),
    })
    .await;
    assert_eq!(calls[3..], [(7, vec![0, 1])]);
    let gave_up = Err(String::from(
        "gave up after 1 attempt (deadline): transient",
    ));
    let dropped = Err(String::from(
        "gave up after 2 attempts (deadline): transient; then dropped before an answer",
    ));
    let mut expected = vec![dropped; 2];
    expected.extend(vec![gave_up; 4]);
    assert_eq!(outcomes(&results), expected);
    let error = results[0].as_ref().unwrap_err();
    assert_eq!(
        (error.error(), error.is_dropped()),
        (Some(&TRANSIENT), true)
    );
}

#[tokio::test(start_paused = true)]
async fn a_hung_call_does_not_delay_the_others() {
    let recording = testing::record();
    let start = tokio::time::Instant::now();
    let batches = EXACT.deadline(secs(30)).batches(1).concurrency(2);
    let results: Results = retry_each(batches, 0..20, async |pending: Vec<u32>| {
        match pending[..] {
            [3] => std::future::pending().await,
            [4] => return Err(STOP),
            [5] => return Err(TRANSIENT),
            _ => tokio::time::sleep(secs(1)).await,
        }
        Ok(pending.into_iter().map(Ok).collect())
    })
    .await;
    assert_eq!(start.elapsed(), secs(30));
    for (item, result) in (0..20).zip(&results) {
        let error = result.as_ref().map_err(|error| {
            (
                error.reason(),
                error.attempts(),
                error.error().is_some(),
                error.is_dropped(),
            )
        });
        let expected = match item {
            3 => Err((Reason::Deadline, 1, false, true)),
            4 => Err((Reason::NotRetryable, 1, true, false)),
            5 => Err((Reason::Deadline, 1, true, false)),
            _ => Ok(&item),
        };
        assert_eq!(error, expected, "{item}");
    }
    assert_eq!(recording.delays(), []);
    assert_eq!(recording.lines().len(), 3);
}

#[tokio::test(start_paused = true)]
async fn a_hint_beyond_the_deadline_gives_up_only_its_item() {
    let (calls, results) = run(EXACT.deadline(secs(30)), |item, attempt| {
        match (item, attempt) {
            (0, 1) => Err(throttled_for(secs(40))),
            (1, 1) => Err(throttled_for(secs(4))),
            _ => Ok(item),
        }
    })
    .await;
    assert_eq!(calls[3..], [(10, vec![1])]);
    let gave_up = Err(String::from(
        "gave up after 1 attempt (deadline): throttled",
    ));
    assert_eq!(
        outcomes(&results),
        [gave_up, Ok(1), Ok(2), Ok(3), Ok(4), Ok(5)]
    );
}

#[tokio::test(start_paused = true)]
async fn jitter_of_a_hint_close_to_the_deadline_gives_up_no_other_item() {
    // Item 0 would wait 3.95 to 4.345 s.
    let hint = Duration::from_millis(3950);
    let policy = Policy::new().base(secs(0)).deadline(secs(4));
    for _ in 0..20 {
        let server = Server::new(|item, attempt| match (item, attempt) {
            (0, 1) => Err(throttled_for(hint)),
            (1, 1) => Err(throttled_for(secs(1))),
            _ => Ok(item),
        });
        let results = retry_each(policy, &[0, 1], async |pending| Ok(server.call(&pending)));
        assert_eq!(results.await[1], Ok(1));
    }
}

/// Fails each item once with its hint. Returns how often each then succeeded, in 20 batches.
async fn got_through(policy: Policy, millis: [u64; 4]) -> ([usize; 4], Vec<Reason>) {
    let (mut counts, mut reasons) = ([0; 4], Vec::new());
    for seed in 0..20 {
        let _seeded = testing::seed(seed);
        let server = Server::new(|item, attempt| match attempt {
            1 => Err(throttled_for(Duration::from_millis(millis[item as usize]))),
            _ => Ok(item),
        });
        let results = retry_each(policy, &[0, 1, 2, 3], async |pending| {
            Ok(server.call(&pending))
        });
        let results = results.await;
        for (count, result) in counts.iter_mut().zip(&results) {
            *count += usize::from(result.is_ok());
        }
        let error =
            |result: &Result<u32, ItemError<_>>| result.as_ref().err().map(ItemError::reason);
        reasons = results.iter().filter_map(error).collect();
    }
    (counts, reasons)
}

#[tokio::test(start_paused = true)]
async fn each_hint_beyond_a_limit_has_its_own_reason() {
    let (counts, reasons) =
        got_through(EXACT.deadline(secs(10)), [121_000, 20_000, 10_001, 10_000]).await;
    assert_eq!(counts, [0, 0, 0, 20]);
    let expected = [Reason::HintTooLong, Reason::Deadline, Reason::Deadline];
    assert_eq!(reasons, expected);
}

#[tokio::test(start_paused = true)]
async fn the_jitter_on_a_hint_does_not_pass_the_deadline() {
    // Up to a tenth would be added.
    let policy = Policy::new().deadline(secs(10));
    let (counts, _) = got_through(policy, [9_100, 9_990, 20_000, 121_000]).await;
    assert_eq!(counts, [20, 20, 0, 0]);
    let section = Section::new().jitter(Jitter::Full);
    let policy = EXACT.deadline(secs(10)).throttled(section);
    let (counts, _) = got_through(policy, [9_990, 1_000, 2_000, 3_000]).await;
    assert_eq!(counts, [20; 4]);
}

#[tokio::test(start_paused = true)]
async fn begins_with_the_first_poll() {
    let server = Server::new(|item, _| Ok(item));
    let results = retry_each(EXACT.deadline(secs(1)), &[1], async |pending| {
        Ok(server.call(&pending))
    });
    tokio::time::sleep(secs(5)).await;
    assert_eq!(results.await, [Ok(1)]);
}

#[tokio::test(start_paused = true)]
async fn a_hint_beyond_total_delay_gives_up_only_its_item() {
    let server = Server::new(|item, attempt| match (item, attempt) {
        (0, 1) => Err(throttled_for(secs(9))),
        (1, 1) => Err(THROTTLED),
        _ => Ok(item),
    });
    let policy = EXACT.total_delay(secs(5));
    let results = retry_each(policy, &[0, 1], async |pending| Ok(server.call(&pending))).await;
    assert_eq!(server.calls(), [(0, vec![0, 1]), (1, vec![1])]);
    let error = results[0].as_ref().unwrap_err();
    assert_eq!((error.attempts(), error.reason()), (1, Reason::Deadline));
    assert_eq!(results[1], Ok(1));
}

/// An item has paused for as long as its rounds did.
#[tokio::test(start_paused = true)]
async fn the_pauses_of_a_round_are_those_of_each_item() {
    let server = Server::new(|item, attempt| match (item, attempt) {
        (0, 1) => Err(TRANSIENT),
        (0, 2) | (1, 1) => Err(throttled_for(secs(8))),
        _ => Ok(item),
    });
    let policy = EXACT.total_delay(secs(10));
    let results = retry_each(policy, &[0, 1], async |pending| Ok(server.call(&pending))).await;
    assert_eq!(server.calls(), [(0, vec![0, 1]), (8, vec![0, 1])]);
    let error = results[0].as_ref().unwrap_err();
    assert_eq!((error.attempts(), error.reason()), (2, Reason::Deadline));
    assert_eq!(results[1], Ok(1));
}
