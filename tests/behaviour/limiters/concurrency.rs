//! A limit on the number of concurrent attempts.

use AttemptOutcome::{Ignored, NotBegun, Success};
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
fn a_round_of_successes_adds_one() {
    let limiter = ConcurrencyLimiter::aimd().start(10).most(12);
    let mut limits = Vec::new();
    for _ in 0..4 {
        let running = fill(&limiter);
        assert_eq!(end_all(&limiter, running, Success), []);
        limits.push(limiter.limit());
    }
    // The later half of the first round no longer has half of the limit in use.
    assert_eq!(limits, [10, 11, 11, 12]);
}

#[test]
fn successes_count_only_while_half_of_the_limit_is_used() {
    let limiter = ConcurrencyLimiter::aimd().start(4).most(1000);
    for _ in 0..100 {
        limiter.leave(limiter.enter(1), Success);
    }
    assert_eq!(limiter.limit(), 4);
    for _ in 0..100 {
        let (one, two) = (limiter.enter(1), limiter.enter(1));
        limiter.leave(one, Success);
        limiter.leave(two, NotBegun);
    }
    assert_eq!(limiter.limit(), 5);
}

#[test]
fn a_round_of_failures_takes_a_tenth_once() {
    for end in [TRANSIENT, THROTTLED, TIMEOUT] {
        let limiter = ConcurrencyLimiter::aimd();
        let mut limits = Vec::new();
        for _ in 0..4 {
            let running = fill(&limiter);
            limits.extend(end_all(&limiter, running, end));
        }
        let limits_of = [18, 16, 14, 13].map(Change::Limit);
        assert_eq!(limits, limits_of, "{end:?}");
    }
    for end in [Ignored, NotBegun] {
        let limiter = ConcurrencyLimiter::aimd();
        let running = fill(&limiter);
        assert_eq!(end_all(&limiter, running, end), []);
        assert_eq!(limiter.limit(), 20);
    }
}

#[test]
fn the_limit_falls_to_its_minimum() {
    let limiter = ConcurrencyLimiter::aimd().least(5);
    let failed = ConcurrencyLimiter::aimd();
    for _ in 0..50 {
        for limiter in [&limiter, &failed] {
            limiter.leave(limiter.enter(1), TIMEOUT);
        }
    }
    assert_eq!(limiter.limit(), 5);
    assert_eq!(failed.limit(), 1);
    assert_eq!(fill(&failed).len(), 1);
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
