//! Each item has its own verdict. Each error is classified once.

use support::forms::AMBIGUOUS;
use support::prelude::*;

use super::{EXACT, Server, errors};

#[tokio::test(start_paused = true)]
async fn items_are_retried_by_an_on_function() {
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
