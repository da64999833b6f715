//! What is told of a batch: one record for all that failed alike in a round.

use std::any::type_name;

use retry_runtime::{retry_each, testing};
use support::failure::{Failure, STOP, THROTTLED, TRANSIENT};

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
    let error = type_name::<Failure>();
    let expected = [
        format!("gave up {call} attempt=1 max=2 error=1 of 10 items: {error} reason=not retryable"),
        format!(
            "retrying {call} attempt=1 max=2 delay=1s error=2 of 10 items: {error} reason=transient"
        ),
        format!(
            "retrying {call} attempt=1 max=2 delay=1s error=3 of 10 items: {error} reason=throttled"
        ),
        format!(
            "retrying {call} attempt=2 max=2 delay=2s error=1 of 5 items: {error} reason=transient"
        ),
        format!("gave up {call} attempt=3 max=2 error=1 of 1 items: {error} reason=exhausted"),
    ];
    assert_eq!(recording.lines(), expected);
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
    assert_eq!(recording.delays(), [secs(9); 2]);
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
        tokio::time::sleep(secs(2)).await;
        answers.truncate(if *pending[0] == 0 { 1 } else { 2 });
        Ok(answers)
    })
    .await;
    let gave_up = "gave up behaviour::batch::log::wrong_numbers_of_answers_and_items_not_sent attempt=1 max=3";
    assert_eq!(
        recording.lines(),
        [
            format!(
                "{gave_up} error=2 of 7 items: number of answers: expected 2, got 1 reason=unanswered"
            ),
            format!("{gave_up} error=2 of 7 items: dropped before an answer reason=deadline"),
            format!("{gave_up} error=3 of 7 items: not sent reason=deadline"),
        ]
    );
}
