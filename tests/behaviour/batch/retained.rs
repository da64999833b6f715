//! Results in the caller's `Vec`: finished items are in it, even if the batch is dropped.

use futures::FutureExt;
use retry_work::{ItemError, retry_each_blocking_into, retry_each_into};
use support::dropped::dropped_after;
use support::prelude::*;

use super::{Answers, EXACT, Results, Server, all_ok, errors, secs};

async fn pause(pause: Duration) {
    if pause > secs(1000) {
        pending::<()>().await; // The deadline.
    }
    yield_now().await;
}

#[test]
fn finished_results_are_kept_if_the_future_is_dropped() {
    for polls in 0..200 {
        let server = Server::new([(2..6, vec![TRANSIENT])]);
        let answered = RefCell::new(Vec::new());
        let batches = EXACT
            .deadline(secs(5000))
            .timer(TimerFn::new(pause))
            .batches(2)
            .concurrency(2);
        let mut results = Results::new();
        let call = async |pending: Vec<u32>| -> Answers {
            yield_now().await;
            yield_now().await;
            let answers = server.answer(&pending)?;
            answered
                .borrow_mut()
                .extend(answers.iter().flatten().copied());
            Ok(answers)
        };
        let ended = dropped_after(polls, retry_each_into(&mut results, batches, 0..6, call));
        let answered = answered.into_inner();
        for (item, result) in (0..).zip(&results) {
            match result {
                Ok(value) => assert_eq!(*value, item),
                Err(error) => assert_eq!(error.reason(), Reason::Cancelled),
            }
            let is_done = answered.contains(&item);
            assert_eq!(result.is_ok(), is_done, "{item} after {polls} polls");
        }
        let failed = results.iter().filter_map(|result| result.as_ref().err());
        let dropped = failed.filter(|error| error.is_dropped()).count();
        assert!(dropped <= 4 && (polls != 1 || dropped == 4));
        if ended.is_some() {
            assert_eq!(answered.len(), 6);
            assert!(polls > 5);
            return;
        }
    }
    panic!("the batch did not end");
}

#[tokio::test(start_paused = true)]
async fn finished_results_are_kept_if_a_call_panics() {
    let mut results = vec![Ok(7)]; // Replaced.
    let batches = EXACT.on(|_: &Failure| true).batches(1);
    let run = retry_each_into(&mut results, batches, 0..6, async |pending: Vec<u32>| {
        yield_now().await;
        assert_ne!(pending, [3], "a bug");
        all_ok(pending)
    });
    assert!(AssertUnwindSafe(run).catch_unwind().await.is_err());
    assert_eq!(results.len(), 4);
    let error = "3: 1 attempt (cancelled): dropped before an answer";
    assert_eq!(errors(&results), [error]);
}

#[test]
fn finished_results_are_kept_if_a_blocking_call_panics() {
    for concurrency in [1, 3] {
        let _skipped = testing::skip_sleeps();
        let mut results = Vec::new();
        let batches = Policy::none().on(|_: &Failure| true).batches(1);
        let batches = batches.concurrency(concurrency);
        let ended = catch_unwind(AssertUnwindSafe(|| {
            retry_each_blocking_into(&mut results, batches, 0..6, |pending| {
                assert!(pending != [3], "three");
                all_ok(pending)
            });
        }));
        assert_eq!(ended.unwrap_err().downcast_ref(), Some(&"three"));
        assert!(results.len() >= 4);
        for (item, result) in (0..).zip(&results) {
            match result {
                Ok(value) => assert_eq!(*value, item),
                // A thread may have been about to send another when the panic stopped it.
                Err(_) => assert!(item == 3 || concurrency > 1, "{item}"),
            }
        }
        assert!(results[3].as_ref().is_err_and(ItemError::is_dropped));
    }
}
