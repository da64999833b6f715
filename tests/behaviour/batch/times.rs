//! The pause of a round: the policy's delay or the longest hint of the round's failures, whichever is longer. The
//! deadline of the whole batch: no call starts and no pause ends after it. Cancelling ends the whole batch, too.

use retry_work::{Batches, ItemError};
use support::prelude::*;

use super::{Answers, EXACT, Fails, NONE, Results, Server, all_ok, check, errors, secs};

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
async fn a_hint_of_the_whole_call_counts() {
    let server = Server::failing([throttled_for(secs(5))]);
    let results = server.run(EXACT.batches(2), 3).await;
    assert_eq!(errors(&results), NONE);
    assert_eq!(server.calls(), "0: 0 1; 0: 2; 5: 0 1");
}

#[tokio::test(start_paused = true)]
async fn jitter_is_drawn_once_for_all_items_with_the_same_failure() {
    let recording = testing::record();
    let server = Server::new([(0..100, vec![TRANSIENT; 9])]);
    let policy = Policy::fixed(secs(100)).cap(secs(100)).max(8);
    server.run(policy, 100).await;
    let delays = recording.delays();
    assert_eq!(delays.len(), 8);
    // The longest of 100 draws from 0–100 s would hardly ever be below 90 s.
    assert!(delays.iter().any(|delay| *delay < secs(90)), "{delays:?}");
}

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
            "a call in the first round", until(3), 6, vec![(0..1, vec![TRANSIENT])], "0: 0 1; 2: 2 3",
                &["0: 1 attempt (deadline): transient",
                    "2 3: 1 attempt (deadline): dropped before an answer",
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
async fn only_hints_beyond_the_deadline_end_items_whatever_the_jitter() {
    let until = |policy: Policy| policy.deadline(secs(10));
    let hints = [121_000, 20_000, 10_001, 10_000];
    let (counts, reasons) = got_through(until(EXACT), hints).await;
    assert_eq!(counts, [0, 0, 0, 20]);
    let expected = [Reason::HintTooLong, Reason::Deadline, Reason::Deadline];
    assert_eq!(reasons, expected);
    // Up to a tenth would be added.
    let hints = [9_100, 9_990, 20_000, 121_000];
    assert_eq!(
        got_through(until(Policy::new()), hints).await.0,
        [20, 20, 0, 0]
    );
    let policy = EXACT.throttled(Section::new().jitter(Jitter::Full));
    let hints = [9_990, 1_000, 2_000, 3_000];
    assert_eq!(got_through(until(policy), hints).await.0, [20; 4]);
}

#[tokio::test(start_paused = true)]
async fn the_deadline_begins_with_the_first_poll() {
    let server = Server::new([]);
    let batches = EXACT.deadline(secs(1));
    let results = retry_each(batches, 0..1, async |pending| server.call(pending).await);
    sleep(secs(5)).await;
    assert_eq!(results.await, [Ok(0)]);
}

#[tokio::test(start_paused = true)]
async fn cancelled_in_a_round_it_lets_calls_end_and_starts_no_other() {
    let token = CancellationToken::new();
    let batches = EXACT.cancel(token.cancelled()).batches(1);
    let results: Results = retry_each(batches, 0..5, async |pending: Vec<u32>| -> Answers {
        sleep(secs(1)).await;
        match pending[0] {
            0 => return Err(TRANSIENT),
            2 => token.cancel(),
            _ => {}
        }
        all_ok(pending)
    })
    .await;
    let expected = [
        "0: 1 attempt (cancelled): transient",
        "3 4: 0 attempts (cancelled): not sent",
    ];
    assert_eq!(errors(&results), expected);
}

#[test]
fn blocking_batches_are_cancelled_too() {
    let _skipped = testing::skip_sleeps();
    let flag = AtomicBool::new(false);
    let batches = EXACT.cancel(&flag).batches(1);
    let results: Results = retry_each_blocking(batches, 0..4, |pending| {
        flag.store(pending == [1], Ordering::SeqCst);
        all_ok(pending)
    });
    assert_eq!(errors(&results), ["2 3: 0 attempts (cancelled): not sent"]);
}

#[test]
fn a_batch_that_never_sleeps_gives_way_once_for_each_round() {
    let policy = Policy::none().max(2);
    let policy = policy.timer(TimerFn::new(|_| ready(())));
    let server = Server::new([(0..1, vec![TRANSIENT; 3])]);
    let mut run = pin!(server.run(policy.batches(9), 1));
    let mut context = Context::from_waker(Waker::noop());
    for is_pending in [true, true, false] {
        assert_eq!(run.as_mut().poll(&mut context).is_pending(), is_pending);
    }
}
