//! Results are in the order of the items, only failed items are sent again, and none is lost for any return value of a
//! call.

use std::cell::Cell;
use std::io;

use retry_runtime::{Policy, Reason};
use retry_work::{IntoBatches, ItemError, retry_each};
use support::failure::{Failure, STOP, TRANSIENT};

use super::{Answers, EXACT, Results, Server, outcomes};

#[tokio::test(start_paused = true)]
async fn only_failed_items_go_into_the_next_call() {
    let server = Server::new(|item, attempt| match (item, attempt) {
        (2, 1 | 2) | (4, 1) => Err(TRANSIENT),
        _ => Ok(item * 10),
    });
    let items = [1, 2, 3, 4, 5];
    let results = retry_each(&EXACT, &items, async |pending| Ok(server.call(&pending)));
    assert_eq!(results.await, [10, 20, 30, 40, 50].map(Ok));
    assert_eq!(
        server.calls(),
        [(0, vec![1, 2, 3, 4, 5]), (1, vec![2, 4]), (3, vec![2])]
    );
}

#[tokio::test(start_paused = true)]
async fn failed_items_of_several_batches_share_the_next_call() {
    let server = Server::new(|item, attempt| match attempt {
        1 if item % 2 == 0 => Err(TRANSIENT),
        _ => Ok(item),
    });
    let items = [0, 1, 2, 3, 4, 5, 6];
    let results = retry_each(EXACT.batches(3), &items, async |pending| {
        Ok(server.call(&pending))
    });
    assert_eq!(results.await, items.map(Ok));
    let calls = [
        (0, vec![0, 1, 2]),
        (0, vec![3, 4, 5]),
        (0, vec![6]),
        (1, vec![0, 2, 4]),
        (1, vec![6]),
    ];
    assert_eq!(server.calls(), calls);
}

#[tokio::test(start_paused = true)]
async fn an_error_of_the_call_is_that_of_each_of_its_items() {
    let calls = Cell::new(0);
    let results: Vec<Result<u32, _>> =
        retry_each(EXACT.max(1).batches(2), [1, 2, 3], async |pending| {
            calls.set(calls.get() + 1);
            match pending[..] {
                [1, 2] => Err(io::Error::from(io::ErrorKind::ConnectionRefused)), // Not `Clone`.
                _ => Ok(pending.into_iter().map(Ok).collect()),
            }
        })
        .await;
    assert_eq!(calls.get(), 3);
    assert_eq!(*results[2].as_ref().unwrap(), 3);
    for result in &results[..2] {
        let error = result.as_ref().unwrap_err();
        let kind = error.error().map(io::Error::kind);
        assert_eq!(kind, Some(io::ErrorKind::ConnectionRefused));
        assert_eq!((error.attempts(), error.reason()), (2, Reason::Exhausted));
    }
    let shared = results[0]
        .as_ref()
        .unwrap_err()
        .clone()
        .into_error()
        .unwrap();
    assert!(std::ptr::eq(
        &raw const *shared,
        results[1].as_ref().unwrap_err().error().unwrap()
    ));
}

#[tokio::test(start_paused = true)]
async fn a_call_that_fails_as_a_whole_sends_all_its_items_again() {
    let server = Server::new(|item, _| Ok(item));
    let failures = Cell::new(1);
    let items = [1, 2, 3];
    let results = retry_each(&EXACT, &items, async |pending| {
        let answers = server.call(&pending);
        match failures.replace(0) {
            0 => Ok(answers),
            _ => Err(TRANSIENT),
        }
    });
    assert_eq!(results.await, items.map(Ok));
    assert_eq!(server.calls(), [(0, vec![1, 2, 3]), (1, vec![1, 2, 3])]);
}

async fn miscounted(change: fn(&mut Vec<Result<u32, Failure>>)) -> Results {
    let server = Server::new(|item, _| Ok(item));
    let items = [1, 2, 3, 4];
    let results = retry_each(EXACT.batches(2), &items, async |pending| {
        let mut answers = server.call(&pending);
        if *pending[0] == 1 {
            change(&mut answers);
        }
        Ok(answers)
    })
    .await;
    // Not sent again, because it may have taken effect.
    assert_eq!(server.calls(), [(0, vec![1, 2]), (0, vec![3, 4])]);
    results
}

#[tokio::test(start_paused = true)]
async fn a_wrong_number_of_results_is_assigned_to_no_item() {
    let gave_up = |answers| {
        let text = "gave up after 1 attempt (unanswered): number of answers: expected 2, got";
        Err(format!("{text} {answers}"))
    };
    let fewer = miscounted(|answers| answers.truncate(1)).await;
    let expected = [gave_up(1), gave_up(1), Ok(3), Ok(4)];
    assert_eq!(outcomes(&fewer), expected);
    let more = miscounted(|answers| answers.push(Ok(7))).await;
    assert_eq!(outcomes(&more), [gave_up(3), gave_up(3), Ok(3), Ok(4)]);
    let none = miscounted(Vec::clear).await;
    assert_eq!(outcomes(&none), [gave_up(0), gave_up(0), Ok(3), Ok(4)]);
    let error: &ItemError<Failure> = none[0].as_ref().unwrap_err();
    assert_eq!((error.error(), error.reason()), (None, Reason::Unanswered));
    assert_eq!(error.clone().into_error(), None);
}

#[tokio::test(start_paused = true)]
async fn errors_describe_the_failure() {
    let server = Server::new(|item, _| match item {
        1 => Err(TRANSIENT),
        2 => Err(STOP),
        _ => Ok(item),
    });
    let items = [1, 2, 3];
    let policy = EXACT.max(2);
    let results = retry_each(&policy, &items, async |pending| Ok(server.call(&pending))).await;
    let expected = [
        Err("gave up after 3 attempts (exhausted): transient"),
        Err("gave up after 1 attempt (not retryable): stop"),
        Ok(3),
    ];
    assert_eq!(
        outcomes(&results),
        expected.map(|result| result.map_err(String::from))
    );
    let error = results[1].as_ref().unwrap_err();
    assert_eq!(error.error(), Some(&STOP));
}

#[tokio::test]
async fn without_items_nothing_is_called() {
    let results: Results = retry_each(Policy::new(), &[], async |_: Vec<&u32>| -> Answers {
        panic!("called")
    })
    .await;
    assert!(results.is_empty());
}

#[tokio::test(start_paused = true)]
async fn items_are_drawn_when_they_are_sent() {
    let drawn = Cell::new(0);
    let items = (0..10).inspect(|_| drawn.set(drawn.get() + 1));
    let calls = Cell::new(0);
    let results = retry_each(EXACT.batches(2), items, async |pending| {
        calls.set(calls.get() + 1);
        assert!(drawn.get() <= 2 * calls.get());
        Ok::<_, Failure>(pending.into_iter().map(Ok).collect())
    });
    assert_eq!(results.await.len(), 10);
}

/// As in a report of the whole error chain.
#[tokio::test]
async fn an_item_error_shows_each_text_once_in_a_chain() {
    #[derive(Debug, thiserror::Error)]
    #[error("can't reach the model")]
    struct Unreachable(#[from] io::Error);

    let policy = Policy::none().max(0).on(|_: &Unreachable| true);
    let results = retry_each(policy, [1], async |_| {
        let refused = io::Error::other("connection refused");
        Err::<Vec<Result<(), _>>, _>(Unreachable(refused))
    });
    let error = results.await.remove(0).unwrap_err();
    assert_eq!(
        format!("{:#}", anyhow::Error::from(error)),
        "gave up after 1 attempt (exhausted): can't reach the model: connection refused"
    );
}
