//! The policy's deadline applies to the whole batch: no call starts and no pause ends after it.

use retry_work::{Batches, ItemError};
use support::prelude::*;

use super::{EXACT, Results, Server, all_ok, check, errors, secs};

/// Six items, two to a call, each call taking 2 seconds.
#[tokio::test(start_paused = true)]
async fn no_call_and_no_pause_passes_the_deadline() {
    let until = |seconds| -> Batches { EXACT.deadline(secs(seconds)).batches(2) };
    let throttled = |hint| vec![throttled_for(secs(hint))];
    check(
        secs(2),
        rows! {
            // A round of 6 s, a pause of 1 s, a call of 2 s, a pause of 2 s that would end at 11 s.
            "a pause that would pass it", until(10), 6, vec![(0..2, vec![TRANSIENT; 9])],
                "0: 0 1; 2: 2 3; 4: 4 5; 7: 0 1", &["0 1: 2 attempts (deadline): transient"];
            "a pause that ends before it", until(12), 6, vec![(0..2, vec![TRANSIENT; 9])],
                "0: 0 1; 2: 2 3; 4: 4 5; 7: 0 1; 11: 0 1",
                &["0 1: 3 attempts (deadline): transient; then dropped before an answer"];
            "a call in the first round", until(3), 6, vec![], "0: 0 1; 2: 2 3",
                &["2 3: 1 attempt (deadline): dropped before an answer",
                    "4 5: 0 attempts (deadline): not sent"];
            "a call in a later round", until(8), 6, vec![(0..6, vec![TRANSIENT])],
                "0: 0 1; 2: 2 3; 4: 4 5; 7: 0 1",
                &["0 1: 2 attempts (deadline): transient; then dropped before an answer",
                    "2 3 4 5: 1 attempt (deadline): transient"];
            "a hint beyond it gives up only its item", until(30), 6,
                vec![(0..1, throttled(40)), (1..2, throttled(4))],
                "0: 0 1; 2: 2 3; 4: 4 5; 10: 1", &["0: 1 attempt (deadline): throttled"];
        },
    )
    .await;
    let spent = |seconds| -> Batches { EXACT.total_delay(secs(seconds)).into_batches() };
    check(
        Duration::ZERO,
        rows! {
            "a hint beyond `total_delay` gives up only its item", spent(5), 2,
                vec![(0..1, throttled(9)), (1..2, vec![THROTTLED])],
                "0: 0 1; 1: 1", &["0: 1 attempt (deadline): throttled"];
            // An item has paused for as long as its rounds did.
            "the pauses of a round are those of each item", spent(10), 2,
                vec![(0..1, vec![TRANSIENT, throttled_for(secs(8))]), (1..2, throttled(8))],
                "0: 0 1; 8: 0 1", &["0: 2 attempts (deadline): throttled"];
        },
    )
    .await;
}

#[tokio::test(start_paused = true)]
async fn a_hung_call_does_not_delay_the_others() {
    let (recording, start) = (testing::record(), Instant::now());
    let batches = EXACT.deadline(secs(30)).batches(1).concurrency(2);
    let results: Results = retry_each(batches, 0..20, async |pending: Vec<u32>| {
        match pending[..] {
            [3] => std::future::pending().await,
            [4] => return Err(STOP),
            [5] => return Err(TRANSIENT),
            _ => sleep(secs(1)).await,
        }
        all_ok(pending)
    })
    .await;
    assert_eq!(start.elapsed(), secs(30));
    let expected = [
        "3: 1 attempt (deadline): dropped before an answer",
        "4: 1 attempt (not retryable): stop",
        "5: 1 attempt (deadline): transient",
    ];
    assert_eq!(errors(&results), expected);
    assert_eq!(recording.delays(), []);
    assert_eq!(recording.lines().len(), 3);
}

#[tokio::test(start_paused = true)]
async fn jitter_of_a_hint_close_to_the_deadline_gives_up_no_other_item() {
    // Item 0 would wait 3.95 to 4.345 s.
    let policy = Policy::new().base(secs(0)).deadline(secs(4));
    for _ in 0..20 {
        let server = Server::new([
            (0..1, vec![throttled_for(millis(3950))]),
            (1..2, vec![throttled_for(secs(1))]),
        ]);
        assert_eq!(server.run(policy, 2).await[1], Ok(1));
    }
}

/// Fails each item once with its hint. Returns how often each then succeeded, in 20 batches.
async fn got_through(policy: Policy, hints: [u64; 4]) -> ([usize; 4], Vec<Reason>) {
    let (mut counts, mut reasons) = ([0; 4], Vec::new());
    for seed in 0..20 {
        let _seeded = testing::seed(seed);
        let hints = (0..).zip(hints.map(millis));
        let fails = hints.map(|(item, hint)| (item..item + 1, vec![throttled_for(hint)]));
        let results = Server::new(fails.collect::<Vec<_>>()).run(policy, 4).await;
        for (count, result) in counts.iter_mut().zip(&results) {
            *count += usize::from(result.is_ok());
        }
        let failed = results.iter().filter_map(|result| result.as_ref().err());
        reasons = failed.map(ItemError::reason).collect();
    }
    (counts, reasons)
}

#[tokio::test(start_paused = true)]
async fn each_hint_beyond_a_limit_has_its_own_reason() {
    let hints = [121_000, 20_000, 10_001, 10_000];
    let (counts, reasons) = got_through(EXACT.deadline(secs(10)), hints).await;
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
    let server = Server::new([]);
    let batches = EXACT.deadline(secs(1));
    let results = retry_each(batches, 0..1, async |pending| server.call(pending).await);
    sleep(secs(5)).await;
    assert_eq!(results.await, [Ok(0)]);
}
