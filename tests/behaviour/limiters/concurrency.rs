//! A limit on the number of concurrent attempts, found or fixed, and work that continues after its attempt was dropped.

use AttemptOutcome::{Ignored, NotBegun, Success};
use futures::future::join_all;
use retry_protections::DetachedWork;
use retry_runtime::seam::Change;
use support::prelude::*;

use crate::limiters::{THROTTLED, TIMEOUT, TRANSIENT, ended, millis, refused, secs, turn};

/// Starts as many attempts as may run now.
fn fill(limiter: &ConcurrencyLimiter) -> Vec<Permit> {
    let mut running = Vec::new();
    loop {
        let mut ticket = limiter.enter(1);
        if limiter.poll(&mut ticket, Waker::noop()) != Admission::Admitted {
            limiter.leave(ticket, NotBegun);
            return running;
        }
        running.push(ticket);
    }
}

fn end_all(limiter: &ConcurrencyLimiter, running: Vec<Permit>, end: AttemptOutcome) -> Vec<Change> {
    let ends = running
        .into_iter()
        .flat_map(|ticket| limiter.leave(ticket, end));
    ends.flatten().collect()
}

#[test]
fn at_most_the_limit_runs_at_a_time() {
    for (limiter, limit) in [
        (ConcurrencyLimiter::aimd(), 20),
        (ConcurrencyLimiter::aimd().start(3), 3),
        (ConcurrencyLimiter::aimd().start(0), 1),
        (ConcurrencyLimiter::aimd().start(1000), 200),
        (ConcurrencyLimiter::aimd().most(7), 7),
        (ConcurrencyLimiter::aimd().least(30), 30),
        (ConcurrencyLimiter::aimd().least(500), 500),
        (ConcurrencyLimiter::aimd().least(30).most(10), 10),
    ] {
        assert_eq!(limiter.limit(), limit);
        let running = fill(&limiter);
        assert_eq!(running.len(), limit as usize);
        let shown = format!("{limit} of {limit} running, 0 waiting");
        assert_eq!(limiter.to_string(), shown);
        end_all(&limiter, running, NotBegun);
        assert_eq!(limiter.running(), 0);
    }
}

#[test]
fn a_round_adds_one_or_takes_a_tenth_once() {
    let aimd = ConcurrencyLimiter::aimd;
    for (limiter, end, expected) in rows! {
        // The later half of the first round no longer has half of the limit in use.
        aimd().start(10).most(12), Success, [10, 11, 11, 12];
        aimd(), TRANSIENT, [18, 16, 14, 13];
        aimd(), THROTTLED, [18, 16, 14, 13];
        aimd(), TIMEOUT, [18, 16, 14, 13];
        aimd().start(6).least(5), TIMEOUT, [5; 4];
        aimd().start(1), TIMEOUT, [1; 4];
        aimd(), Ignored, [20; 4];
        aimd(), NotBegun, [20; 4];
    } {
        let mut limits = Vec::new();
        for _ in 0..4 {
            let before = limiter.limit();
            let changes = end_all(&limiter, fill(&limiter), end);
            limits.push(limiter.limit());
            let lowered = (limiter.limit() < before).then_some(Change::Limit(limiter.limit()));
            assert_eq!(changes, lowered.as_slice(), "{end:?}");
        }
        assert_eq!(limits, expected, "{end:?}");
    }
}

/// Makes an attempt of a second. Returns its start.
async fn begins_at(
    limiter: &ConcurrencyLimiter,
    cost: u32,
    start: Instant,
    end: AttemptOutcome,
) -> Duration {
    let ticket = turn(limiter, cost).await;
    let began = start.elapsed();
    sleep(secs(1)).await;
    limiter.leave(ticket, end);
    began
}

#[tokio::test(start_paused = true)]
async fn a_dropped_waiter_makes_room() {
    let limiter = ConcurrencyLimiter::aimd().start(2);
    let start = Instant::now();
    let run = async |end| begins_at(&limiter, 1, start, end).await;
    let waits = async || {
        yield_now().await;
        assert_eq!(limiter.waiting(), 3);
    };
    let ((), first, second, third, fourth, fifth) = tokio::join!(
        waits(),
        run(Success),
        run(Ignored),
        run(TRANSIENT),
        run(Success),
        run(Success)
    );
    let begun = [first, second, third, fourth, fifth];
    assert_eq!(begun, [0, 0, 1, 1, 2].map(secs));
}

#[tokio::test(start_paused = true)]
async fn an_attempt_that_costs_more_than_the_limit_runs_alone() {
    let limiter = ConcurrencyLimiter::aimd().start(4);
    let start = Instant::now();
    let run = async |cost| begins_at(&limiter, cost, start, Ignored).await;
    let (one, large, other, three) = tokio::join!(run(1), run(9), run(1), run(3));
    assert_eq!([one, large, other, three], [0, 1, 2, 2].map(secs));
}

/// The limit after a pause is the number of attempts that ran and were not rejected, halved for every ten seconds of
/// pause, and doubled each second.
#[tokio::test(start_paused = true)]
async fn after_a_hint_the_restart_is_slower_for_longer_pauses() {
    for (hint, at_once, after_a_second) in [
        (millis(3), 15, 18),
        (secs(1), 14, 18),
        (secs(10), 8, 16),
        (secs(30), 2, 4),
        (secs(120), 1, 2),
    ] {
        let limiter = ConcurrencyLimiter::aimd();
        let mut running: Vec<_> = (0..16).map(|_| limiter.enter(1)).collect();
        let refused_one = running.pop().expect("sixteen");
        limiter.leave(refused_one, refused(hint));
        assert_eq!(limiter.paused_for(), Some(hint));
        end_all(&limiter, running, Ignored);
        let mut waiting: Vec<_> = (0..100).map(|_| limiter.enter(1)).collect();
        sleep(hint).await;
        assert_eq!(begin(&limiter, &mut waiting).len(), at_once, "{hint:?}");
        assert_eq!(limiter.paused_for(), None);
        sleep(secs(1)).await;
        let later = begin(&limiter, &mut waiting).len();
        assert_eq!(at_once + later, after_a_second, "{hint:?}");
    }
}

/// Returns the waiting attempts that may start now.
fn begin(limiter: &ConcurrencyLimiter, waiting: &mut Vec<Permit>) -> Vec<Permit> {
    let may_begin =
        |ticket: &mut Permit| limiter.poll(ticket, Waker::noop()) == Admission::Admitted;
    let mut begun = Vec::new();
    while may_begin(&mut waiting[0]) {
        begun.push(waiting.remove(0));
    }
    begun
}

/// Successes show that the server accepts the old rate again, long before a second has passed.
#[tokio::test(start_paused = true)]
async fn successes_end_a_slow_start_early() {
    let limiter = ConcurrencyLimiter::aimd();
    let running: Vec<_> = (0..17).map(|_| limiter.enter(1)).collect();
    let changes = running.into_iter().enumerate().map(|(number, ticket)| {
        let refused = refused(secs(30));
        limiter.leave(ticket, if number == 0 { refused } else { Success })
    });
    changes.for_each(drop);
    let start = Instant::now();
    let mut rounds = Vec::new();
    let mut waiting: Vec<_> = (0..100).map(|_| limiter.enter(1)).collect();
    sleep(secs(30)).await;
    for _ in 0..4 {
        let running = begin(&limiter, &mut waiting);
        rounds.push(running.len());
        sleep(millis(10)).await;
        end_all(&limiter, running, Success);
    }
    assert_eq!(rounds, [2, 4, 8, 16]);
    assert!(start.elapsed() < millis(30_100));
    end_all(&limiter, waiting, NotBegun);
}

/// The next attempt starts in the slot of one that did not.
#[tokio::test(start_paused = true)]
async fn returned_turns_after_a_pause_take_no_time() {
    let limiter = ConcurrencyLimiter::aimd();
    ended(&limiter, 1, refused(secs(30))).await;
    let start = Instant::now();
    for _ in 0..3 {
        ended(&limiter, 1, NotBegun).await;
        assert_eq!(start.elapsed(), secs(30));
    }
    let one = turn(&limiter, 1).await;
    assert_eq!(start.elapsed(), secs(30));
    let two = turn(&limiter, 1).await;
    assert_eq!(start.elapsed(), secs(31));
    end_all(&limiter, vec![one, two], Success);
}

/// As documented: with a server that fails at random, about ten of twenty are left.
#[test]
fn random_failures_lower_the_limit_too() {
    let limiter = ConcurrencyLimiter::aimd();
    let (mut random, mut sum) = (1_u32, 0);
    for _ in 0..2000 {
        for ticket in fill(&limiter) {
            random = random.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            let is_failure = random >> 16 < 65_536 / 10;
            limiter.leave(ticket, if is_failure { TRANSIENT } else { Success });
        }
        sum += limiter.limit();
    }
    assert!((6..=12).contains(&(sum / 2000)), "{}", sum / 2000);
}

#[test]
fn an_attempt_that_costs_more_than_the_limit_is_a_round() {
    let limiter = ConcurrencyLimiter::aimd();
    for limit in 21..24 {
        limiter.leave(limiter.enter(1000), Success);
        assert_eq!(limiter.limit(), limit);
    }
}

/// HTTP 503 with `Retry-After` has the same effect as 429, for every limiter. Only throttling lowers a rate.
#[test]
fn any_failure_with_a_hint_pauses_all_attempts() {
    #[retry(max = 0, limiter = limiter)]
    fn call(limiter: &impl AdmissionControl, verdict: Verdict) -> Result<(), Failure> {
        Err(Failure(verdict))
    }

    for (verdict, rate, paused) in [
        (Verdict::THROTTLED, 1.0, 30),
        (Verdict::TRANSIENT, f64::INFINITY, 30),
        (Verdict::TIMEOUT, f64::INFINITY, 30),
        (Verdict::TRANSIENT.once(), f64::INFINITY, 30),
        (Verdict::INVALID, f64::INFINITY, 0),
        (Verdict::STOP, f64::INFINITY, 0),
    ] {
        let verdict = verdict.after(secs(30));
        let (adaptive, fixed) = (RateLimiter::adaptive(), ConcurrencyLimiter::fixed(5));
        call(&adaptive, verdict).unwrap_err();
        call(&fixed, verdict).unwrap_err();
        let ceil = |left: Option<Duration>| left.map_or(0, |left| (left + millis(999)).as_secs());
        assert_eq!(ceil(adaptive.paused_for()), paused, "{verdict:?}");
        assert_eq!(ceil(fixed.paused_for()), paused, "{verdict:?}");
        assert_eq!(adaptive.rate(), rate, "{verdict:?}");
    }
}

#[retry(max = 0, limiter = limiter)]
async fn work(limiter: &ConcurrencyLimiter) -> Result<(), Rejected> {
    sleep(millis(50)).await;
    Ok(())
}

#[tokio::test(start_paused = true)]
async fn a_thousand_calls_share_five_slots() {
    let five = || ConcurrencyLimiter::fixed(5);
    for (limiter, by, after) in [
        (five().max_wait(secs(1)), RejectedBy::Limiter, secs(1)),
        (five().queue(95), RejectedBy::Full, secs(0)),
    ] {
        let start = Instant::now();
        let calls = (0..1000).map(|_| async {
            let ended = work(&limiter).await;
            (ended.map_err(Rejected::by), start.elapsed())
        });
        let ended = join_all(calls).await;
        assert_eq!(start.elapsed(), secs(1));
        let rejected = (Err(by), after);
        assert_eq!(ended.iter().filter(|end| **end == rejected).count(), 900);
        assert_eq!(ended.iter().filter(|end| end.0.is_ok()).count(), 100);
        assert_eq!(limiter.to_string(), "0 of 5 running, 0 waiting");
    }
}

#[test]
fn without_a_queue_a_call_starts_at_once_or_is_rejected() {
    #[retry(max = 3, backoff = "none", limiter = limiter)]
    fn within(limiter: &ConcurrencyLimiter, depth: u32) -> Result<(), Rejected> {
        depth
            .checked_sub(1)
            .map_or(Ok(()), |depth| within(limiter, depth))
    }

    let two = || ConcurrencyLimiter::fixed(2);
    for (limiter, by) in [
        (two().queue(0), RejectedBy::Full),
        (two().max_wait(secs(0)), RejectedBy::Limiter),
    ] {
        assert!(within(&limiter, 1).is_ok());
        assert_eq!(within(&limiter, 2).unwrap_err().by(), by);
        assert_eq!(limiter.to_string(), "0 of 2 running, 0 waiting");
    }
}

#[tokio::test(start_paused = true)]
async fn an_absent_waiter_takes_no_room_in_the_queue() {
    let limiter = ConcurrencyLimiter::fixed(1).queue(1);
    let (mut running, mut absent) = (Box::pin(work(&limiter)), Box::pin(work(&limiter)));
    assert!(futures::poll!(running.as_mut()).is_pending());
    assert!(futures::poll!(absent.as_mut()).is_pending());
    assert!(running.await.is_ok());
    // Its turn came, but it isn't polled.
    assert_eq!(limiter.to_string(), "0 of 1 running, 1 waiting");
    sleep(secs(2)).await;
    assert!(work(&limiter).await.is_ok());
    assert!(absent.await.is_ok());
}

/// Makes one attempt at a time, each dropped after a second, with work that takes three seconds. Returns the start
/// times.
async fn began(limiter: &'static ConcurrencyLimiter, guards: usize) -> Vec<u64> {
    let (start, began) = (Instant::now(), Mutex::new(Vec::new()));
    let work = DetachedWork::new(limiter);
    let outcome = retrying!(
        max = 2,
        backoff = "none",
        timeout = "1s",
        limiter = &work,
        async {
            began.lock().unwrap().push(start.elapsed().as_secs());
            for ends in [3, 2].into_iter().take(guards) {
                let guard = work.guard();
                tokio::spawn(async move {
                    sleep(secs(ends)).await;
                    drop(guard);
                });
            }
            sleep(secs(9)).await;
            io::Result::Ok(())
        }
    );
    assert_eq!(outcome.await.unwrap_err().kind(), io::ErrorKind::TimedOut);
    began.into_inner().unwrap()
}

#[tokio::test(start_paused = true)]
async fn work_keeps_its_slot_and_delays_the_retry_until_it_is_done() {
    static LIMITER: ConcurrencyLimiter = ConcurrencyLimiter::aimd().start(1).most(1);
    // Without a guard, the slot is not held.
    assert_eq!(began(&LIMITER, 0).await, [0, 1, 2]);
    assert_eq!(LIMITER.running(), 0);
    for guards in [1, 2] {
        assert_eq!(began(&LIMITER, guards).await, [0, 3, 6], "{guards} guards");
        // The last attempt was dropped a second after its start.
        assert_eq!(LIMITER.running(), 1);
        sleep(secs(3)).await;
        assert_eq!(LIMITER.running(), 0);
    }
}

#[tokio::test(start_paused = true)]
async fn work_that_never_ends_ends_the_call_at_its_deadline() {
    static LIMITER: ConcurrencyLimiter = ConcurrencyLimiter::aimd();
    let work = DetachedWork::new(&LIMITER);
    let held = Mutex::new(Vec::new());
    let start = Instant::now();
    let outcome = retrying!(timeout = "1s", deadline = "10s", limiter = &work, async {
        held.lock().unwrap().push(work.guard());
        sleep(secs(9)).await;
        io::Result::Ok(())
    });
    let error = outcome.await.unwrap_err();
    assert_eq!(error.to_string(), "timed out after 1s");
    assert_eq!(start.elapsed(), secs(10));
    assert_eq!((held.lock().unwrap().len(), LIMITER.running()), (1, 1));
}
