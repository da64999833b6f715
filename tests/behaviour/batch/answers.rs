//! Results are in the order of the items, only failed items are sent again, and no item is lost, whatever a call
//! returns. Each item has its own verdict, and each error is classified once.

use std::ptr;

use retry_work::ItemError;
use support::forms::AMBIGUOUS;
use support::prelude::*;

use super::{Answers, EXACT, Results, Server, check, errors};

#[tokio::test(start_paused = true)]
async fn only_failed_items_go_into_the_next_call() {
    let even = (0..7).step_by(2);
    let even = even.map(|item| (item..item + 1, vec![TRANSIENT])).collect();
    check(
        Duration::ZERO,
        rows! {
            "failed items of several batches share the next call", EXACT.batches(3), 7, even,
                "0: 0 1 2; 0: 3 4 5; 0: 6; 1: 0 2 4; 1: 6", &[];
            "errors describe the failure", EXACT.max(2).into_batches(), 3,
                vec![(0..1, vec![TRANSIENT; 9]), (1..2, vec![STOP])],
                "0: 0 1 2; 1: 0; 3: 0",
                &["0: 3 attempts (exhausted): transient", "1: 1 attempt (not retryable): stop"];
        },
    )
    .await;
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
    let failed: [&ItemError<_>; 2] = [0, 1].map(|item| results[item].as_ref().unwrap_err());
    for error in failed {
        let kind = error.error().map(io::Error::kind);
        assert_eq!(kind, Some(io::ErrorKind::ConnectionRefused));
        assert_eq!((error.attempts(), error.reason()), (2, Reason::Exhausted));
    }
    let shared = failed[0].clone().into_error().unwrap();
    assert!(ptr::eq(&raw const *shared, failed[1].error().unwrap()));
}

#[tokio::test(start_paused = true)]
async fn a_wrong_number_of_results_is_assigned_to_no_item() {
    for answers in [1, 3, 0] {
        let server = Server::new([]);
        let run = retry_each(EXACT.batches(2), 0..4, async |pending: Vec<u32>| {
            let mut results = server.answer(&pending)?;
            if pending[0] == 0 {
                results.resize(answers, Ok(7));
            }
            Ok(results)
        });
        let results: Results = run.await;
        let text = "0 1: 1 attempt (unanswered): number of answers: expected 2, got";
        assert_eq!(errors(&results), [format!("{text} {answers}")]);
        // Not sent again, because it may have taken effect.
        assert_eq!(server.calls(), "0: 0 1; 0: 2 3");
        let error = results[0].as_ref().unwrap_err();
        assert_eq!((error.error(), error.reason()), (None, Reason::Unanswered));
        assert_eq!(error.clone().into_error(), None);
    }
}

#[tokio::test]
async fn without_items_nothing_is_called() {
    let results: Results = retry_each(Policy::new(), &[], async |_: Vec<&u32>| -> Answers {
        panic!("called")
    })
    .await;
    assert!(results.is_empty());
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
    let expected = "gave up after 1 attempt (exhausted): can't reach the model: connection refused";
    assert_eq!(format!("{:#}", anyhow::Error::from(error)), expected);
}

#[tokio::test(start_paused = true)]
async fn each_error_is_classified_once_by_an_on_function() {
    let asked = Cell::new(0);
    let on = |error: &&str| {
        asked.set(asked.get() + 1);
        error.starts_with("503")
    };
    let policy = Policy::none().max(1).on(on);
    let errors = ["400 no text", "503 busy", "503 busy"];
    let results = retry_each(policy, errors, async |errors| {
        Ok(errors.into_iter().map(Err::<(), _>).collect())
    });
    let attempts = results.await.into_iter();
    let attempts = attempts.map(|result| result.unwrap_err().attempts());
    assert_eq!(attempts.collect::<Vec<_>>(), [1, 2, 2]);
    assert_eq!(asked.take(), 3 + 2);
    // The error of a whole call.
    let batches = Policy::none().max(2).on(on).batches(10);
    let results: Vec<Result<u32, _>> = retry_each(batches, 0..20, async |_| Err("503 busy")).await;
    assert!(results.iter().all(Result::is_err));
    assert_eq!(asked.get(), 3 * 2);
}

/// Neither is a request repeated that may have taken effect, nor does a safe one end because of it.
#[tokio::test(start_paused = true)]
async fn an_ambiguous_item_does_not_stop_a_safe_one() {
    for (failures, calls, error) in rows! {
        [AMBIGUOUS, TRANSIENT], "0: 0 1; 1: 1", "0: 1 attempt (ambiguous): transient";
        [TRANSIENT, AMBIGUOUS], "0: 0 1; 1: 0", "1: 1 attempt (ambiguous): transient";
    } {
        let [first, second] = failures.map(|failure| vec![failure]);
        let server = Server::new([(0..1, first), (1..2, second)]);
        let policy = EXACT.on(|failure: &Failure| failure.0).idempotent(false);
        assert_eq!(errors(&server.run(policy, 2).await), [error]);
        assert_eq!(server.calls(), calls);
    }
}
