//! Each item has a verdict of its own, asked once for each error.

use std::cell::Cell;

use retry_runtime::{Policy, Reason, Verdict};
use retry_work::{IntoBatches, retry_each};
use support::failure::{Failure, STOP, TRANSIENT};

use super::{EXACT, Server};

#[tokio::test(start_paused = true)]
async fn items_are_retried_by_classify() {
    let server = Server::new(|item, attempt| match (item, attempt) {
        (1, _) => Err(STOP),
        (2, 1) => Err(TRANSIENT),
        _ => Ok(item),
    });
    let items = [1, 2, 3];
    let results = retry_each(&EXACT, &items, async |pending| Ok(server.call(&pending))).await;
    assert_eq!(server.calls()[1..], [(1, vec![2])]);
    let error = results[0].as_ref().unwrap_err();
    assert_eq!(
        (error.error(), error.reason()),
        (Some(&STOP), Reason::NotRetryable)
    );
    assert!(results[1..].iter().all(Result::is_ok));
}

#[tokio::test(start_paused = true)]
async fn items_are_retried_by_an_on_function() {
    let asked = Cell::new(0);
    let on = |error: &String| {
        asked.set(asked.get() + 1);
        error.starts_with("503")
    };
    let errors = |pending: Vec<u32>| {
        let error = |item| match item {
            1 => Err(String::from("400 no text")),
            _ => Err(String::from("503 busy")),
        };
        pending
            .into_iter()
            .map(error)
            .collect::<Vec<Result<u32, _>>>()
    };
    let policy = Policy::none().max(1);
    let results = retry_each(policy.on(on), 1..=3, async |pending| Ok(errors(pending))).await;
    let attempts = results
        .iter()
        .map(|result| result.as_ref().unwrap_err().attempts());
    assert_eq!(attempts.collect::<Vec<_>>(), [1, 2, 2]);
    assert_eq!(asked.get(), 3 + 2);
}

#[tokio::test(start_paused = true)]
async fn once_for_the_error_of_a_whole_call() {
    let asked = Cell::new(0);
    let on = |_: &&str| {
        asked.set(asked.get() + 1);
        Verdict::TRANSIENT
    };
    let batches = Policy::none().max(2).on(on).batches(10);
    let results: Vec<Result<u32, _>> = retry_each(batches, 0..20, async |_| Err("503 busy")).await;
    assert!(results.iter().all(Result::is_err));
    assert_eq!(asked.get(), 3 * 2);
}

/// Neither is a request repeated that may have taken effect, nor does a safe one end because of it.
#[tokio::test(start_paused = true)]
async fn an_ambiguous_item_does_not_stop_a_safe_one() {
    for ambiguous in [0, 1] {
        let server = Server::new(|item, attempt| match attempt {
            1 if item == ambiguous => Err(Failure(Verdict::TRANSIENT.ambiguous())),
            1 => Err(TRANSIENT),
            _ => Ok(item),
        });
        let policy = EXACT.on(|failure: &Failure| failure.0).idempotent(false);
        let results = retry_each(policy, &[0, 1], async |pending| Ok(server.call(&pending))).await;
        let safe = 1 - ambiguous;
        assert_eq!(server.calls(), [(0, vec![0, 1]), (1, vec![safe])]);
        let error = results[ambiguous as usize].as_ref().unwrap_err();
        assert_eq!((error.attempts(), error.reason()), (1, Reason::Ambiguous));
        assert_eq!(results[safe as usize], Ok(safe));
    }
}
