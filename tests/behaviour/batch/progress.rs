//! The progress of a batch in observers' events.

use std::iter::from_fn;
use std::mem::take;

use futures::join;
use support::prelude::*;

use super::{Answers, EXACT, Server, all_ok, secs};

/// The reported numbers of items done, failed and waiting.
#[derive(Default)]
struct Progresses(Mutex<Vec<[usize; 3]>>);

impl Progresses {
    fn see(&self, event: &Event<'_>) {
        if let EventData::Progressed {
            done,
            failed,
            waiting,
        } = event.data
        {
            self.0.lock().unwrap().push([done, failed, waiting]);
        }
    }

    fn all(&self) -> Vec<[usize; 3]> {
        take(&mut self.0.lock().unwrap())
    }
}

#[tokio::test(start_paused = true)]
async fn each_call_and_each_end_is_progress() {
    let recorded = Progresses::default();
    // The item 1 fails once, the item 3 for good.
    let server = || Server::new([(1..2, vec![TRANSIENT]), (3..4, vec![STOP])]);
    // At the start, after each call, when items are given up, and after the call of the second round.
    let expected = [
        [0, 0, 5],
        [1, 0, 4],
        [2, 0, 3],
        [3, 0, 2],
        [3, 1, 1],
        [4, 1, 0],
    ];
    let batches = EXACT.observe(|event| recorded.see(event)).batches(2);
    let results = server().run(batches, 5).await;
    assert_eq!(results.iter().flatten().count(), 4);
    assert_eq!(recorded.all(), expected);
    let (policy, server) = (Policy::none().max(1), server());
    let batches = policy.observe(|event| recorded.see(event)).batches(2);
    let _ = retry_each_blocking(batches, 0..5, |items| server.answer(&items));
    assert_eq!(recorded.all(), expected);
}

/// Items that aren't known yet don't count as waiting.
#[tokio::test(start_paused = true)]
async fn items_without_a_number_wait_once_they_are_drawn() {
    let recorded = Progresses::default();
    let batches = EXACT.observe(|event| recorded.see(event)).batches(2);
    let mut left = 0..4_u32;
    let results = retry_each(batches, from_fn(|| left.next()), async |items| {
        all_ok(items)
    });
    assert_eq!(results.await.iter().flatten().count(), 4);
    assert_eq!(recorded.all(), [[0, 0, 2], [2, 0, 0], [2, 0, 2], [4, 0, 0]]);
}

/// Returns the events for three items, each in a separate call.
async fn ends(
    policy: Policy,
    breaker: &Breaker,
    call: impl AsyncFn() -> Answers,
) -> Vec<[usize; 3]> {
    let recorded = Progresses::default();
    let batches = policy
        .breaker(breaker)
        .observe(|event| recorded.see(event))
        .batches(1);
    let _ = retry_each(batches, 0..3_u32, async |_| call().await).await;
    recorded.all()
}

#[tokio::test(start_paused = true)]
async fn every_end_of_an_item_is_progress() {
    let breaker = Breaker::new().consecutive_failures(1);
    let once = EXACT.max(0);
    let miscounted = ends(once, &breaker, async || Ok(Vec::new())).await;
    assert_eq!(miscounted, [[0, 0, 3], [0, 1, 2], [0, 2, 1], [0, 3, 0]]);

    let slow = async || {
        sleep(secs(2)).await;
        Ok(vec![Ok(1)])
    };
    let late = ends(once.deadline(secs(3)), &breaker, slow).await;
    assert_eq!(late, [[0, 0, 3], [1, 0, 2], [1, 2, 0]]);

    // The first call opens the breaker, which turns the others away.
    let down = ends(once, &breaker, async || Err(TRANSIENT)).await;
    assert_eq!(down, [[0, 0, 3], [0, 1, 2], [0, 2, 1], [0, 3, 0]]);
    let open = ends(once, &breaker, async || Ok(vec![Ok(1)])).await;
    assert_eq!(open, [[0, 1, 2], [0, 2, 1], [0, 3, 0]]);
}

#[tokio::test(start_paused = true)]
async fn a_batch_that_waits_for_its_first_turn_has_started() {
    let recorded = Progresses::default();
    let limiter = RateLimiter::fixed(1, secs(60));
    HeldPermit::new(&limiter).succeeded();
    let batches = EXACT.limiter(&limiter).observe(|event| recorded.see(event));
    let results = retry_each(batches, 0..3_u32, async |items| all_ok(items));
    let after_a_second = async {
        sleep(secs(1)).await;
        recorded.all()
    };
    let (_, first) = join!(results, after_a_second);
    assert_eq!((first, recorded.all()), (vec![[0, 0, 3]], vec![[3, 0, 0]]));
}
