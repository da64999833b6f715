//! The log of a batch: one record for all items that failed in the same way in a round.

use std::any::type_name;

use support::limiters::each;
use support::prelude::*;

use super::{Answers, EXACT, NONE, Server, secs};

#[tokio::test(start_paused = true)]
async fn shows_how_many_of_how_many_failed() {
    let recording = testing::record();
    let fails = [
        (0..1, vec![STOP]),
        (1..2, vec![TRANSIENT; 3]),
        (2..3, vec![TRANSIENT]),
        (3..6, vec![THROTTLED]),
        (6..7, vec![throttled_for(secs(121))]),
    ];
    let expected = [
        "gave up batch attempt=1 max=2 error=1 of 10 items: stop reason=not retryable",
        "retrying batch attempt=1 max=2 delay=1s error=2 of 10 items: transient reason=transient",
        "retrying batch attempt=1 max=2 delay=1s error=3 of 10 items: throttled reason=throttled",
        "gave up batch attempt=1 max=2 error=1 of 10 items: throttled; the server asks to wait 2m1s reason=hint too long",
        "retrying batch attempt=2 max=2 delay=2s error=1 of 5 items: transient reason=transient",
        "gave up batch attempt=3 max=2 error=1 of 1 items: transient reason=exhausted",
    ];
    let batches = EXACT.max(2).name("batch").batches(5);
    Server::new(fails).run(batches, 10).await;
    assert_eq!(recording.lines(), expected);
    assert_eq!(recording.delays(), [secs(1), secs(2)]);
    assert_eq!(recording.attempts(), [3]);
    assert_eq!(recording.reasons(), [Reason::Exhausted]);
}

#[tokio::test(start_paused = true)]
async fn a_success_is_logged_only_after_a_failure() {
    let recording = testing::record();
    Server::new([]).run(EXACT.batches(1), 3).await;
    assert_eq!(recording.lines(), NONE);
    let fails = [
        (0..1, vec![TRANSIENT]),
        (1..2, vec![throttled_for(secs(9))]),
    ];
    let server = Server::new(fails);
    let _ = retry_each(EXACT, 0..3, async |items| server.call(items).await).await;
    assert_eq!(recording.delays(), [secs(9)]);
    let last = recording.lines().pop().unwrap();
    let name = "behaviour::batch::log::a_success_is_logged_only_after_a_failure";
    assert_eq!(last, format!("succeeded {name} attempt=2 max=3"));
}

#[tokio::test(start_paused = true)]
async fn wrong_numbers_of_answers_and_items_not_sent() {
    let recording = testing::record();
    let batches = EXACT.deadline(secs(3)).name("batch").batches(2);
    let _ = retry_each(batches, 0..7, async |pending: Vec<u32>| -> Answers {
        sleep(secs(2)).await;
        let answers = if pending[0] == 0 { 1 } else { 2 };
        Ok(vec![Ok(0); answers])
    })
    .await;
    let expected = [
        "attempt=1 max=3 error=2 of 7 items: number of answers: expected 2, got 1 reason=unanswered",
        "attempt=1 max=3 error=2 of 7 items: dropped before an answer reason=deadline",
        "attempt=0 max=3 error=3 of 7 items: not sent reason=deadline",
    ];
    assert_eq!(
        recording.lines(),
        expected.map(|line| format!("gave up batch {line}"))
    );
}

/// Runs a batch of two items that are retried once or, if throttled, nine times.
async fn throttled(policy: Policy, calls: [Option<usize>; 3]) -> Vec<String> {
    let policy = policy.max(1).throttled(Section::new().max(9).base(secs(1)));
    let recording = testing::record();
    let rounds = Cell::new(0);
    let batches = policy
        .name("batch")
        .on(|error: &Failure| error.0)
        .batches(2);
    let _ = retry_each(batches, 0..2, async |items: Vec<u32>| {
        match calls.get(rounds.replace(rounds.get() + 1)) {
            Some(Some(answers)) => Ok(items.into_iter().take(*answers).map(Ok).collect()),
            Some(None) => Err(THROTTLED),
            None => pending().await,
        }
    })
    .await;
    recording.lines()
}

#[tokio::test(start_paused = true)]
async fn the_log_shows_the_max_of_the_policy_and_the_count_of_the_kind() {
    let error = type_name::<Failure>();
    let retrying = |attempt| {
        let delay = secs(attempt);
        format!(
            "retrying batch attempt={attempt} max=1 retry={attempt} retry_max=9 delay={delay:?} error=2 of 2 items: {error} reason=throttled"
        )
    };
    let lines = throttled(EXACT, [None, None, Some(2)]).await;
    assert_eq!(lines[..2], [retrying(1), retrying(2)]);
    assert_eq!(lines[2..], ["succeeded batch attempt=3 max=1"]);
    assert_eq!(
        throttled(EXACT, [None, None, Some(1)]).await[2],
        "gave up batch attempt=3 max=1 error=2 of 2 items: number of answers: expected 2, got 1 reason=unanswered"
    );
    assert_eq!(
        throttled(EXACT.deadline(secs(60)), [None; 3]).await[3],
        "gave up batch attempt=4 max=1 error=2 of 2 items: dropped before an answer reason=deadline"
    );
}

/// The last record of items that were given up, and how the batch ended, without how many items they speak of.
fn ends(events: &testing::Recorder) -> Vec<String> {
    let mut lines = events.lines();
    lines.retain(|line| line.starts_with("gave up"));
    let last = &lines[lines.len() - 2..];
    let without_count = last.iter().map(|line| {
        let (before, after) = line.split_once("error=").expect("an error");
        let (_, error) = after.split_once(" items: ").expect("of items");
        format!("{before}{error}")
    });
    without_count.collect()
}

#[tokio::test(start_paused = true)]
async fn a_batch_ends_with_what_was_given_up_last() {
    // The outcomes of the first two calls; all others are running at the deadline.
    macro_rules! ends {
        ($keys:expr, $first:expr) => {{
            let (events, sent) = (testing::Recorder::new(), Cell::new(0));
            let call = $keys.name("batch").observe(|event| events.observe(event));
            let _ = retry_each(call.batches(1).concurrency(2), 0..2, async |_| {
                let first: [Option<Failure>; 2] = $first;
                let number = sent.replace(sent.get() + 1);
                match first.get(number).cloned().flatten() {
                    Some(failure) => Err::<Vec<Result<(), _>>, _>(failure),
                    None => pending().await,
                }
            })
            .await;
            ends(&events)
        }};
    }

    let (policy, closed) = (EXACT.deadline(secs(30)), each(99).max_wait(secs(1)));
    let throttled = policy.max(1).throttled(Section::new().max(9));
    HeldPermit::new(&closed).succeeded();
    for (ends, expected) in rows! {
        ends!(policy, [Some(STOP), None]),
            "attempt=1 max=3 dropped before an answer reason=deadline";
        ends!(policy, [Some(TRANSIENT), Some(TRANSIENT)]),
            "attempt=2 max=3 dropped before an answer reason=deadline";
        ends!(policy.limiter(&closed), [None, None]),
            "attempt=0 max=3 rejected by the limiter reason=rejected";
        ends!(policy.cancel(ready(())), [None, None]), "attempt=0 max=3 not sent reason=cancelled";
        // In a pause. The policy's `max`, not the section's.
        ends!(throttled.cancel(sleep(millis(500))), [Some(THROTTLED), Some(THROTTLED)]),
            "attempt=1 max=1 throttled reason=cancelled";
    } {
        assert_eq!(ends, [(); 2].map(|()| format!("gave up batch {expected}")));
    }
}
