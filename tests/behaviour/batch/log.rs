//! The log of a batch: one record for all items that failed in the same way in a round.

use std::any::type_name;
use std::cell::{Cell, RefCell};
use std::future::ready;
use std::task::Waker;
use std::time::Duration;

use retry_runtime::seam::{Admission, AdmissionControl, AttemptOutcome, Changes, Permit};
use retry_runtime::{Event, EventData, Observer, Policy, Reason, Section, testing};
use retry_work::{IntoBatches, retry_each};
use support::failure::{Failure, STOP, THROTTLED, TRANSIENT};
use support::limiters::at_a_time;
use support::rows;
use tokio::time::sleep;

use super::{EXACT, Server, secs};

#[tokio::test(start_paused = true)]
async fn says_how_many_of_how_many_failed() {
    let recording = testing::record();
    let server = Server::new(|item, attempt| match (item, attempt) {
        (0, _) => Err(STOP),
        (1, _) | (2, 1) => Err(TRANSIENT),
        (3..=5, 1) => Err(THROTTLED),
        _ => Ok(item),
    });
    let items: Vec<u32> = (0..10).collect();
    let batches = EXACT.max(2).batches(5);
    let _ = retry_each(batches, &items, async |pending| Ok(server.call(&pending))).await;
    let call = "behaviour::batch::log::says_how_many_of_how_many_failed";
    let expected = [
        format!("gave up {call} attempt=1 max=2 error=1 of 10 items: stop reason=not retryable"),
        format!(
            "retrying {call} attempt=1 max=2 delay=1s error=2 of 10 items: transient reason=transient"
        ),
        format!(
            "retrying {call} attempt=1 max=2 delay=1s error=3 of 10 items: throttled reason=throttled"
        ),
        format!(
            "retrying {call} attempt=2 max=2 delay=2s error=1 of 5 items: transient reason=transient"
        ),
        format!("gave up {call} attempt=3 max=2 error=1 of 1 items: transient reason=exhausted"),
    ];
    assert_eq!(recording.lines(), expected);
    assert_eq!(recording.delays(), [secs(1), secs(2)]);
    assert_eq!(recording.attempts(), [3]);
    assert_eq!(recording.reasons(), [Reason::Exhausted]);
}

#[tokio::test(start_paused = true)]
async fn a_delay_is_that_of_the_round() {
    let recording = testing::record();
    let server = Server::new(|item, attempt| match (item, attempt) {
        (0, 1) => Err(TRANSIENT),
        (1, 1) => Err(support::failure::throttled_for(secs(9))),
        _ => Ok(item),
    });
    let _ = retry_each(
        &EXACT,
        &[0, 1, 2],
        async |pending| Ok(server.call(&pending)),
    )
    .await;
    assert_eq!(recording.delays(), [secs(9)]);
    let last = recording.lines().pop().unwrap();
    assert_eq!(
        last,
        "succeeded behaviour::batch::log::a_delay_is_that_of_the_round attempt=2 max=3"
    );
}

#[tokio::test(start_paused = true)]
async fn nothing_when_all_succeed_at_once() {
    let recording = testing::record();
    let server = Server::new(|item, _| Ok(item));
    let _ = retry_each(EXACT.batches(1), &[0, 1, 2], async |pending| {
        Ok(server.call(&pending))
    })
    .await;
    assert_eq!(recording.lines(), [""; 0]);
}

#[tokio::test(start_paused = true)]
async fn wrong_numbers_of_answers_and_items_not_sent() {
    let recording = testing::record();
    let server = Server::new(|item, _| Ok(item));
    let items = [0, 1, 2, 3, 4, 5, 6];
    let batches = EXACT.deadline(secs(3)).batches(2);
    let _ = retry_each(batches, &items, async |pending| {
        let mut answers = server.call(&pending);
        sleep(secs(2)).await;
        answers.truncate(if *pending[0] == 0 { 1 } else { 2 });
        Ok(answers)
    })
    .await;
    let gave_up = |attempt: u32, error: &str| {
        format!(
            "gave up behaviour::batch::log::wrong_numbers_of_answers_and_items_not_sent attempt={attempt} max=3 error={error}"
        )
    };
    assert_eq!(
        recording.lines(),
        [
            gave_up(
                1,
                "2 of 7 items: number of answers: expected 2, got 1 reason=unanswered"
            ),
            gave_up(1, "2 of 7 items: dropped before an answer reason=deadline"),
            gave_up(0, "3 of 7 items: not sent reason=deadline"),
        ]
    );
}

/// Runs a batch of two items that are retried once or, if throttled, nine times.
async fn throttled(policy: Policy, calls: [Option<usize>; 3]) -> Vec<String> {
    let policy = policy.max(1).throttled(Section::new().max(9).base(secs(1)));
    let recording = testing::record();
    let rounds = Cell::new(0);
    let batches = policy.on(|error: &Failure| error.0).batches(2);
    let _ = retry_each(batches, 0..2, async |pending: Vec<u32>| {
        rounds.set(rounds.get() + 1);
        match calls.get(rounds.get() - 1) {
            Some(Some(answers)) => Ok(pending.into_iter().take(*answers).map(Ok).collect()),
            Some(None) => Err(THROTTLED),
            None => std::future::pending().await,
        }
    })
    .await;
    let lines = recording.lines().into_iter();
    lines
        .map(|line| line.replace("behaviour::batch::log::throttled", "batch"))
        .collect()
}

#[tokio::test(start_paused = true)]
async fn the_log_shows_the_max_of_the_policy_and_the_count_of_the_kind() {
    let retrying = |attempt| {
        let (error, delay) = (type_name::<Failure>(), secs(attempt));
        format!(
            "retrying batch attempt={attempt} max=1 retry={attempt} retry_max=9 delay={delay:?} error=2 of 2 items: {error} reason=throttled"
        )
    };
    assert_eq!(
        throttled(EXACT, [None, None, Some(2)]).await,
        [
            retrying(1),
            retrying(2),
            String::from("succeeded batch attempt=3 max=1")
        ]
    );
    assert_eq!(
        throttled(EXACT, [None, None, Some(1)]).await[2],
        "gave up batch attempt=3 max=1 error=2 of 2 items: number of answers: expected 2, got 1 reason=unanswered"
    );
    assert_eq!(
        throttled(EXACT.deadline(secs(60)), [None; 3]).await[3],
        "gave up batch attempt=4 max=1 error=2 of 2 items: dropped before an answer reason=deadline"
    );
}

#[tokio::test(start_paused = true)]
async fn the_log_shows_the_max_of_the_policy_when_a_pause_is_cut_short() {
    let recording = testing::record();
    let policy = EXACT.max(1).throttled(Section::new().max(9));
    let policy = policy.on(|error: &Failure| error.0);
    let cancelled = policy.cancel(sleep(Duration::from_millis(500)));
    let results: Vec<Result<(), _>> = retry_each(cancelled, [1], async |_| Err(THROTTLED)).await;
    assert_eq!(results[0].as_ref().unwrap_err().attempts(), 1);
    let lines = recording.lines();
    assert!(
        lines[1].contains("attempt=1 max=1") && lines[1].ends_with("reason=cancelled"),
        "{lines:?}"
    );
}

/// Rejects every attempt.
struct Closed;

impl AdmissionControl for Closed {
    fn enter(&self, cost: u32) -> Permit {
        Permit::new(0, cost)
    }

    fn poll(&self, _: &mut Permit, _: &Waker) -> Admission {
        Admission::Rejected
    }

    fn leave(&self, _: Permit, _: AttemptOutcome) -> Changes {
        [None; 2]
    }
}

/// The last record of items that were given up, and how the batch ended, without how many items they speak of.
#[derive(Default)]
struct Ends(RefCell<[String; 2]>);

impl Observer for Ends {
    fn observe(&self, event: &Event<'_>) {
        let last = match event.data {
            EventData::ItemsFailed {
                follows: Err(_), ..
            } => 0,
            EventData::GaveUp { .. } => 1,
            _ => return,
        };
        let text = event.to_string();
        let (before, after) = text.split_once("error=").expect("an error");
        let (_, error) = after.split_once(" items: ").expect("of items");
        self.0.borrow_mut()[last] = format!("{before}{error}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_batch_ends_with_what_was_given_up_last() {
    // The outcomes of the first two calls; all others are running at the deadline.
    macro_rules! ends {
        ($keys:expr, $first:expr) => {{
            let (ends, sent) = (Ends::default(), Cell::new(0));
            let call = $keys.name("batch").observe(|event| ends.observe(event));
            let _ = retry_each(call.batches(1).concurrency(2), 0..2, async |_| {
                let first: [Option<Failure>; 2] = $first;
                let number = sent.replace(sent.get() + 1);
                match first.get(number).cloned().flatten() {
                    Some(failure) => Err::<Vec<Result<(), _>>, _>(failure),
                    None => std::future::pending().await,
                }
            })
            .await;
            ends.0.into_inner()
        }};
    }

    let policy = EXACT.deadline(secs(30));
    for (ends, expected) in rows! {
        ends!(policy, [Some(STOP), None]),
            "attempt=1 max=3 dropped before an answer reason=deadline";
        ends!(policy, [Some(TRANSIENT), Some(TRANSIENT)]),
            "attempt=2 max=3 dropped before an answer reason=deadline";
        ends!(policy.limiter(&Closed), [None, None]),
            "attempt=0 max=3 rejected by the limiter reason=rejected";
        ends!(policy.cancel(ready(())), [None, None]), "attempt=0 max=3 not sent reason=cancelled";
    } {
        assert_eq!(ends, [(); 2].map(|()| format!("gave up batch {expected}")));
    }
}

#[tokio::test(start_paused = true)]
async fn items_that_were_not_sent_are_logged_with_attempt_0() {
    let (limiter, recording) = (at_a_time(1), testing::record());
    // One runs, one waits, and one was not drawn yet.
    let batches = EXACT.limiter(&limiter).cancel(sleep(secs(1)));
    let batches = batches.name("batch").on(|_: &Failure| true);
    let _ = retry_each(batches.batches(1).concurrency(2), 0..3, async |_| {
        sleep(secs(2)).await;
        Ok(vec![Ok::<_, Failure>(())])
    })
    .await;
    let lines = recording.lines();
    let given_up: Vec<_> = lines
        .iter()
        .filter(|line| line.starts_with("gave up"))
        .collect();
    assert_eq!(given_up.len(), 2, "{lines:?}");
    for line in given_up {
        assert!(line.contains(" attempt=0 "), "{line}");
        assert!(line.ends_with(" reason=cancelled"), "{line}");
    }
}
