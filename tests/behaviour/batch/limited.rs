//! Batches with a limiter: a call waits for its turn, and counts as many attempts as it has items.

use std::cell::{Cell, RefCell};
use std::io;
use std::sync::Mutex;
use std::time::Duration;

use futures::join;
use retry_protections::{Breaker, ConcurrencyLimiter, RateLimiter};
use retry_runtime::seam::TimerFn;
use retry_runtime::{Budget, Event, Policy, Reason, Rejected, RejectedBy, testing};
use retry_work::{IntoBatches, ItemError, retry_each, retry_each_blocking};
use support::dropped::{give_way, leaves_nothing_behind};
use support::failure::{Failure, STOP, THROTTLED, TRANSIENT, throttled_for};
use support::limiters::{at_a_time, each};
use support::rows;
use tokio::time::{Instant, sleep, timeout};
use tokio_util::sync::CancellationToken;

use super::EXACT;

const SECOND: Duration = Duration::from_secs(1);

/// The start times of calls, and their items.
#[derive(Default)]
struct Calls(Mutex<Vec<(u64, Vec<u32>)>>);

impl Calls {
    fn begin(&self, start: Instant, items: &[u32]) {
        let at = start.elapsed().as_secs();
        self.0.lock().unwrap().push((at, items.to_vec()));
    }

    fn seen(self) -> Vec<(u64, Vec<u32>)> {
        self.0.into_inner().unwrap()
    }
}

fn ends(results: &[Result<u32, ItemError<Failure>>]) -> Vec<Result<u32, (u32, Reason)>> {
    let end = |error: &ItemError<_>| (error.attempts(), error.reason());
    let ends = results
        .iter()
        .map(|result| result.as_ref().map(|value| *value).map_err(end));
    ends.collect()
}

#[tokio::test(start_paused = true)]
async fn a_call_costs_as_much_as_it_has_items() {
    let (limiter, calls, start) = (each(1), Calls::default(), Instant::now());
    let batches = EXACT.limiter(&limiter).batches(3).concurrency(2);
    let results = retry_each(batches, 0..7, async |pending| {
        calls.begin(start, &pending);
        Ok(pending.into_iter().map(Ok::<_, Failure>).collect())
    });
    assert!(results.await.iter().all(Result::is_ok));
    // Each waits until what the one before took is paid off.
    assert_eq!(
        calls.seen(),
        [(0, vec![0, 1, 2]), (3, vec![3, 4, 5]), (6, vec![6])]
    );
    assert_eq!(limiter.waiting(), 0);
}

#[tokio::test(start_paused = true)]
async fn a_quota_counts_requests_and_what_their_items_cost() {
    // Six requests and sixty tokens a minute.
    for (cost, begun) in [(1, [0, 10, 20]), (10, [0, 20, 40])] {
        let (limiter, calls) = (RateLimiter::quota(6, 60), Calls::default());
        let start = Instant::now();
        let limiter = limiter.cost(cost);
        let batches = EXACT.limiter(&limiter).batches(2);
        let results = retry_each(batches, 0..6, async |pending| {
            calls.begin(start, &pending);
            Ok(pending.into_iter().map(Ok::<_, Failure>).collect())
        });
        assert!(results.await.iter().all(Result::is_ok));
        let seen: Vec<_> = calls.seen().into_iter().map(|(at, _)| at).collect();
        assert_eq!(seen, begun, "{cost}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_call_with_more_items_than_the_limit_runs_alone() {
    let (limiter, calls, start) = (at_a_time(3), Calls::default(), Instant::now());
    let batches = EXACT.limiter(&limiter).batches(5).concurrency(3);
    let results = retry_each(batches, 0..12, async |pending| {
        calls.begin(start, &pending);
        sleep(SECOND).await;
        Ok(pending.into_iter().map(Ok::<_, Failure>).collect())
    });
    assert!(results.await.iter().all(Result::is_ok));
    let seen: Vec<_> = calls
        .seen()
        .into_iter()
        .map(|(at, items)| (at, items.len()))
        .collect();
    assert_eq!(seen, [(0, 5), (1, 5), (2, 2)]);
    assert_eq!((limiter.running(), limiter.waiting()), (0, 0));
}

#[tokio::test(start_paused = true)]
async fn other_calls_continue_while_one_waits() {
    let (limiter, calls, start) = (at_a_time(1), Calls::default(), Instant::now());
    // Another call has the only place for 5 s.
    let other = EXACT.limiter(&limiter).call(async || {
        sleep(5 * SECOND).await;
        Ok::<_, Failure>(())
    });
    let batches = EXACT.limiter(&limiter).batches(1).concurrency(2);
    let results = retry_each(batches, 0..2, async |pending| {
        calls.begin(start, &pending);
        sleep(SECOND).await;
        Ok(pending.into_iter().map(Ok::<_, Failure>).collect())
    });
    let (_, results) = join!(other, results);
    assert!(results.iter().all(Result::is_ok));
    assert_eq!(calls.seen(), [(5, vec![0]), (6, vec![1])]);
}

/// Records the number of running attempts when it is dropped.
struct Request<'a>(&'a ConcurrencyLimiter, &'a RefCell<Vec<u64>>);

impl Drop for Request<'_> {
    fn drop(&mut self) {
        self.1.borrow_mut().push(self.0.running());
    }
}

#[tokio::test(start_paused = true)]
async fn a_dropped_batch_releases_slots_once_its_calls_are_gone() {
    let (limiter, gone) = (at_a_time(2), RefCell::default());
    let batches = EXACT.limiter(&limiter).batches(1).concurrency(3);
    let results = retry_each(batches, 0..3, async |pending| {
        let _request = Request(&limiter, &gone);
        sleep(SECOND).await;
        Ok(pending.into_iter().map(Ok::<_, Failure>).collect())
    });
    assert!(timeout(SECOND / 2, results).await.is_err());
    assert_eq!(gone.into_inner(), [2, 2]);
    assert_eq!((limiter.running(), limiter.waiting()), (0, 0));
}

#[tokio::test(start_paused = true)]
async fn items_whose_turn_cannot_come_in_time_end_at_once() {
    let token = CancellationToken::new();
    for (limiter, policy, cancels, ended) in rows! {
        each(10).max_wait(5 * SECOND), EXACT, false, (0, Reason::Rejected);
        each(10), EXACT.deadline(5 * SECOND), false, (0, Reason::Deadline);
        each(10), EXACT, true, (4, Reason::Cancelled);
    } {
        let start = Instant::now();
        let recording = testing::record();
        let batches = policy
            .name("items")
            .limiter(&limiter)
            .cancel(token.cancelled())
            .batches(1)
            .concurrency(3);
        let run = retry_each(batches, 0..3, async |pending: Vec<u32>| {
            Ok(pending.into_iter().map(Ok::<_, Failure>).collect())
        });
        let cancel = async {
            if cancels {
                sleep(4 * SECOND).await;
                token.cancel();
            }
        };
        let (results, ()) = join!(run, cancel);
        let (seconds, reason) = ended;
        assert_eq!(ends(&results), [Ok(0), Err((0, reason)), Err((0, reason))]);
        assert_eq!(start.elapsed(), seconds * SECOND);
        assert_eq!(limiter.waiting(), 0);
        let error = match reason {
            Reason::Rejected => "rejected by the limiter",
            Reason::Deadline => "rejected: its turn comes after its deadline",
            _ => "cancelled while it waited for its turn",
        };
        let line =
            format!("gave up items attempt=0 max=3 error=2 of 3 items: {error} reason={reason}");
        assert_eq!(recording.lines().last(), Some(&line));
    }
}

#[tokio::test(start_paused = true)]
async fn items_that_failed_before_keep_their_error() {
    let limiter = each(10).max_wait(5 * SECOND);
    let results = retry_each(EXACT.limiter(&limiter), [0], async |_| {
        Err::<Vec<Result<u32, _>>, _>(TRANSIENT)
    })
    .await;
    assert_eq!(ends(&results), [Err((1, Reason::Rejected))]);
    assert_eq!(results[0].as_ref().unwrap_err().error(), Some(&TRANSIENT));
}

#[tokio::test(start_paused = true)]
async fn no_call_waits_while_the_breaker_is_open() {
    let (limiter, breaker) = (each(60), Breaker::new().consecutive_failures(1));
    let (start, events) = (Instant::now(), RefCell::new(Vec::new()));
    let batches = EXACT
        .name("items")
        .limiter(&limiter)
        .breaker(&breaker)
        .observe(|event: &Event<'_>| events.borrow_mut().push(event.to_string()))
        .batches(1);
    let results = retry_each(batches, 0..3, async |_| {
        Err::<Vec<Result<u32, _>>, _>(TRANSIENT)
    });
    let rejected = |attempts| Err((attempts, Reason::Rejected));
    assert_eq!(
        ends(&results.await),
        [rejected(1), rejected(0), rejected(0)]
    );
    // The pause before the round that is not sent.
    assert_eq!(start.elapsed(), SECOND);
    assert!(
        !events
            .into_inner()
            .iter()
            .any(|event| event.starts_with("waiting"))
    );
}

#[tokio::test(start_paused = true)]
async fn a_call_reports_the_worst_outcome_of_its_items() {
    let throttled = || throttled_for(7 * SECOND);
    for (answers, pauses) in rows! {
        vec![Ok(0), Err(STOP)], None;
        vec![Ok(0), Err(TRANSIENT)], None;
        vec![Err(throttled()), Ok(0), Err(TRANSIENT)], Some(7);
        vec![Err(THROTTLED), Err(throttled()), Err(throttled_for(3 * SECOND))], Some(7);
    } {
        let limiter = RateLimiter::adaptive();
        let items = u32::try_from(answers.len()).unwrap();
        let batches = EXACT.max(0).limiter(&limiter);
        let _ = retry_each(batches, 0..items, async |_| Ok(answers.clone())).await;
        let pause = limiter.paused_for().map(|pause| pause.as_secs());
        assert_eq!(pause, pauses, "{answers:?}");
    }
}

/// Within it, all items were rejected by something further in.
#[tokio::test(start_paused = true)]
async fn a_call_that_sent_nothing_costs_nothing() {
    let rejected = || Err::<u32, _>(io::Error::from(Rejected::new(RejectedBy::Breaker)));
    for (is_sent, left) in [(false, 5.0), (true, 3.0)] {
        let limiter = RateLimiter::fixed(1, 60 * SECOND).burst(5);
        let batches = EXACT.max(0).limiter(&limiter);
        let answers = async |_| Ok(vec![rejected(), if is_sent { Ok(1) } else { rejected() }]);
        let _ = retry_each(batches, 0..2, answers).await;
        let available = limiter.available();
        assert!((available - left).abs() < 0.5, "{available}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_budget_pays_for_no_throttled_items() {
    let (limiter, budget) = (at_a_time(9), Budget::standard());
    let sent = Cell::new(0);
    let batches = EXACT.max(2).limiter(&limiter).budget(&budget).batches(9);
    let results = retry_each(batches, 0..3, async |pending: Vec<u32>| {
        sent.set(sent.get() + pending.len());
        let failure = |item| if item == 0 { TRANSIENT } else { THROTTLED };
        Ok(pending
            .into_iter()
            .map(|item| Err::<u32, _>(failure(item)))
            .collect())
    });
    assert_eq!(ends(&results.await), [Err((3, Reason::Exhausted)); 3]);
    assert_eq!((sent.get(), budget.available()), (9, 500.0 - 2.0 * 14.0));
}

#[test]
fn threads_wait_for_their_turns() {
    let limiter = at_a_time(1);
    let (running, most) = (Mutex::new(0), Mutex::new(0));
    let batches = Policy::none().limiter(&limiter).batches(1).concurrency(4);
    let results = retry_each_blocking(batches, 0..20, |pending| {
        let now = {
            let mut running = running.lock().unwrap();
            *running += 1;
            *running
        };
        let mut most = most.lock().unwrap();
        *most = now.max(*most);
        std::thread::yield_now();
        *running.lock().unwrap() -= 1;
        Ok(pending.into_iter().map(Ok::<_, Failure>).collect())
    });
    assert!(results.iter().all(Result::is_ok));
    assert_eq!(*most.lock().unwrap(), 1);
    assert_eq!((limiter.running(), limiter.waiting()), (0, 0));
}

#[test]
fn threads_end_what_cannot_wait() {
    let limiter = each(3600).max_wait(SECOND);
    let batches = Policy::none().limiter(&limiter).batches(1).concurrency(2);
    let results = retry_each_blocking(batches, 0..3, |pending| {
        Ok(pending.into_iter().map(Ok::<_, Failure>).collect())
    });
    let rejected = Err((0, Reason::Rejected));
    let ended = ends(&results);
    assert_eq!(ended.iter().filter(|end| end.is_ok()).count(), 1);
    assert_eq!(ended.iter().filter(|end| **end == rejected).count(), 2);
    assert_eq!(limiter.waiting(), 0);
}

#[tokio::test(start_paused = true)]
async fn a_dropped_batch_releases_all_slots() {
    leaves_nothing_behind(5, async |shared| {
        let batches = Policy::none()
            .max(2)
            .timer(TimerFn::new(|_| give_way()))
            .limiter(&shared.limiter)
            .budget(&shared.budget)
            .batches(1)
            .concurrency(4);
        let results = retry_each(batches, 0..5, async |pending: Vec<u32>| {
            Err::<Vec<Result<(), _>>, _>(shared.attempts(pending.len()).await)
        });
        assert!(results.await.iter().all(Result::is_err));
    });
}
