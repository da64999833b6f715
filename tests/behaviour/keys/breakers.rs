//! The built-in breakers: conditions for opening and closing.

use std::iter;

use proptest::prelude::*;
use retry_runtime::Cause;
use retry_runtime::seam::Transition;
use support::held_permit::{FAILED, failed, hinted};
use support::prelude::*;
use support::runtime;

const SUCCESS: AttemptOutcome = AttemptOutcome::Success;

fn opened(cause: Cause, open_for: Duration) -> Transition {
    Transition::Opened { cause, open_for }
}

/// A breaker that opens at the first failure.
const fn strict() -> Breaker {
    Breaker::new().consecutive_failures(1)
}

/// A strict breaker, half open.
async fn half_open() -> Breaker {
    let breaker = strict();
    fail(&breaker, 1);
    advance(secs(5)).await;
    breaker
}

/// Checks that one more failure opens the breaker, for this number of seconds.
#[track_caller]
fn assert_opens(breaker: &Breaker, cause: Cause, open_for: u64) {
    let open = Some(opened(cause, secs(open_for)));
    assert_eq!(call(breaker, FAILED), (true, open));
}

/// One call through a breaker: whether it was let through, and what it changed.
fn call(breaker: &Breaker, seen: AttemptOutcome) -> (bool, Option<Transition>) {
    match breaker.admit() {
        Some(pass) => (true, breaker.record(pass, seen)),
        None => (false, None),
    }
}

fn fail(breaker: &Breaker, times: u32) {
    for _ in 0..times {
        assert!(call(breaker, FAILED).0);
    }
}

fn succeed(breaker: &Breaker, times: u32) {
    for _ in 0..times {
        call(breaker, SUCCESS);
    }
}

use BreakerState::{Closed, HalfOpen, Open};

#[tokio::test(start_paused = true)]
async fn defaults_are_nine_of_ten_of_a_hundred() {
    let breaker = Breaker::default();
    fail(&breaker, 89);
    succeed(&breaker, 10);
    assert_eq!(call(&breaker, SUCCESS), (true, None));
    fail(&breaker, 9);
    assert_eq!(breaker.state(), Closed, "98 of 109");
    assert_opens(&breaker, Cause::Ratio, 5);
    assert_eq!(call(&breaker, FAILED), (false, None));
    advance(millis(4_999)).await;
    assert_eq!(call(&breaker, FAILED), (false, None));
    advance(millis(1)).await;
    assert_eq!(call(&breaker, SUCCESS).1, Some(Transition::Closed));
    assert_eq!(breaker.to_string(), "closed");
}

#[tokio::test(start_paused = true)]
async fn consecutive_failures_open_the_breaker() {
    let breaker = Breaker::new().consecutive_failures(3);
    fail(&breaker, 2);
    succeed(&breaker, 1);
    fail(&breaker, 2);
    // Neither ends nor continues the sequence of failures.
    call(&breaker, AttemptOutcome::Ignored);
    assert_opens(&breaker, Cause::Consecutive, 5);
    advance(secs(5)).await;
    assert_opens(&breaker, Cause::Trial, 5);
    advance(secs(5)).await;
    succeed(&breaker, 1);
    // It starts again.
    fail(&breaker, 2);
    assert_eq!(breaker.state(), Closed);
}

/// An attempt every so often: whether the breaker is closed after them all.
async fn stays_closed(
    breaker: &Breaker,
    gap: Duration,
    ends: impl Iterator<Item = AttemptOutcome>,
) -> bool {
    for seen in ends {
        advance(gap).await;
        if call(breaker, seen).1.is_some() {
            return false;
        }
    }
    true
}

#[tokio::test(start_paused = true)]
async fn a_sudden_outage_opens_the_breaker_at_any_rate() {
    // Twenty-five failures, or those of two seconds.
    for (rate, failures) in [(1, 25), (10, 25), (200, 401), (5_000, 10_001)] {
        let gap = secs(1) / rate;
        let healthy = || iter::repeat_n(SUCCESS, 30 * rate as usize);
        let failing = |times| iter::repeat_n(FAILED, times);
        let breaker = Breaker::new();
        assert!(stays_closed(&breaker, gap, healthy()).await, "{rate}");
        let too_few = failing(failures - 1);
        assert!(stays_closed(&breaker, gap, too_few).await, "{rate}");
        advance(gap).await;
        assert_opens(&breaker, Cause::Ratio, 5);

        // A call that takes less time doesn't affect the next.
        let breaker = Breaker::new();
        let blips = (0..2).flat_map(|_| healthy().chain(failing(failures - 1)));
        assert!(stays_closed(&breaker, gap, blips).await, "{rate}");
    }
}

/// Successes that take longer than failures are counted later.
#[tokio::test(start_paused = true)]
async fn slow_successes_are_waited_for() {
    // Five attempts start every second. Two fail at once, the others end half a minute later. The table has the second
    // in which the breaker opens.
    for (at_once, later, opens) in [
        (FAILED, SUCCESS, None),
        (FAILED, FAILED, Some(36)),
        (failed(Kind::Timeout), SUCCESS, Some(13)),
    ] {
        let breaker = Breaker::new();
        let mut running = VecDeque::new();
        let mut opened = None;
        for second in 1..60 {
            advance(secs(1)).await;
            running.extend((0..3).filter_map(|_| Some((second, breaker.admit()?))));
            for _ in 0..2 {
                call(&breaker, at_once);
            }
            while let Some((_, pass)) = running.pop_front_if(|(begun, _)| *begun + 30 <= second) {
                breaker.record(pass, later);
            }
            if breaker.state() == Open {
                opened = opened.or(Some(second));
            }
        }
        assert_eq!(opened, opens, "{at_once:?} {later:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn few_successes_don_t_hide_an_outage() {
    let opens = async |breaker: Breaker, failures| {
        let healthy = iter::repeat_n(SUCCESS, 6_000);
        let ends = (1..2_000).map(|nth| match nth % (failures + 1) {
            0 => SUCCESS,
            _ => FAILED,
        });
        !stays_closed(&breaker, millis(5), healthy.chain(ends)).await
    };
    assert!(opens(Breaker::new(), 40).await);
    assert!(!opens(Breaker::new(), 20).await, "they outweigh 25 each");
    // The ratio and the fewest attempts to go by still count.
    assert!(!opens(Breaker::new().ratio(0.99), 40).await);
    assert!(!opens(Breaker::new().minimum_calls(1_000), 40).await);
}

/// Failures that left the window no longer count.
#[tokio::test(start_paused = true)]
async fn rare_failures_are_no_outage() {
    let failures = |times| iter::repeat_n(FAILED, times);
    let breaker = Breaker::new();
    assert!(stays_closed(&breaker, secs(2), failures(1_000)).await);
    advance(secs(31)).await;
    assert!(stays_closed(&breaker, millis(10), failures(99)).await);
}

/// The probability of a run of failures: W. Feller, "An Introduction to Probability Theory and Its Applications",
/// volume 1, XIII.7. At 80 %, runs are frequent enough to measure.
#[tokio::test(start_paused = true)]
async fn chance_opens_the_breaker_as_rarely_as_theory_predicts() {
    const SHARE: f64 = 0.8;
    const SEEDS: u32 = 200;

    /// By `SplitMix64`.
    fn ends(mut seed: u64) -> impl Iterator<Item = AttemptOutcome> {
        iter::repeat_with(move || {
            seed = seed.wrapping_add(0x9e37_79b9_7f4a_7c15);
            let mixed = (seed ^ (seed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
            let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
            let chance = f64::from((mixed >> 32) as u32) / f64::from(u32::MAX);
            if chance < SHARE { FAILED } else { SUCCESS }
        })
    }

    let expected = (SHARE.powi(-25) - 1.0) / (1.0 - SHARE);
    let mut attempts = 0;
    for seed in 0..SEEDS {
        let ends = ends(seed.into()).inspect(|_| attempts += 1);
        assert!(!stays_closed(&Breaker::new(), millis(100), ends).await);
    }
    let measured = f64::from(attempts) / f64::from(SEEDS);
    let ratio = measured / expected;
    assert!((0.8..1.2).contains(&ratio), "{measured} for {expected}");
}

#[tokio::test(start_paused = true)]
async fn the_window_slides_at_every_number_of_successes() {
    for successes in 0..300 {
        let breaker = Breaker::new();
        succeed(&breaker, successes);
        advance(secs(31)).await;
        fail(&breaker, 100);
        assert_eq!(breaker.state(), Open, "{successes}");
        let breaker = Breaker::new();
        succeed(&breaker, successes);
        // While no time passes, no success is lost.
        let of_hundred = 100_u32.saturating_sub(successes);
        fail(&breaker, of_hundred.max(successes * 9).max(1) - 1);
        assert_eq!(breaker.state(), Closed, "{successes}");
        fail(&breaker, 1);
        assert_eq!(breaker.state(), Open, "{successes}");
    }
}

/// A rush leaves the window, and takes no later success with it.
#[tokio::test(start_paused = true)]
async fn a_burst_does_not_change_the_window() {
    let breaker = Breaker::new();
    succeed(&breaker, 521);
    for _ in 0..62 {
        advance(millis(500)).await;
        succeed(&breaker, 1);
    }
    // Of the 60 successes in the last 30 s, a tenth may have left the window.
    let made = (0..1000).take_while(|_| call(&breaker, FAILED).0).count();
    assert!(((60 - 6) * 9..=60 * 9).contains(&made), "{made}");
}

/// Calls with timers of their own have clocks that differ. One that is behind loses no calls; one that is further
/// behind was set back, for example after a test whose clock was far ahead, and finds no window.
#[test]
fn the_window_bears_with_clocks_that_differ_by_a_minute() {
    for (ahead, state) in [(0, Open), (29, Open), (59, Open), (70, Closed)] {
        let breaker = Breaker::new();
        runtime::paused().block_on(async {
            advance(secs(ahead)).await;
            fail(&breaker, 99);
        });
        runtime::paused().block_on(async { fail(&breaker, 1) });
        assert_eq!(breaker.state(), state, "{ahead} s");
    }
    let breaker = Breaker::new();
    for (ahead, failures) in [(3600, 0), (0, 100)] {
        runtime::paused().block_on(async {
            advance(secs(ahead)).await;
            succeed(&breaker, 1_000);
            advance(secs(31)).await;
            fail(&breaker, failures);
        });
    }
    assert_eq!(breaker.state(), Open);
}

#[tokio::test(start_paused = true)]
async fn the_window_slides_by_tenths() {
    let breaker = Breaker::new().minimum_calls(10).ratio(1.0);
    // One failure in each of ten slices: when the tenth comes, the first is still there.
    for number in 0..10 {
        assert_eq!(breaker.state(), Closed, "{number}");
        fail(&breaker, 1);
        advance(secs(3)).await;
    }
    assert_eq!(breaker.state(), Open);
    let breaker = Breaker::new().minimum_calls(11).ratio(1.0);
    for _ in 0..100 {
        fail(&breaker, 1);
        advance(secs(3)).await;
    }
    assert_eq!(breaker.state(), Closed);
}

/// A configured time that is out of the hint's bounds is kept.
#[tokio::test(start_paused = true)]
async fn a_hint_sets_how_long_the_breaker_stays_open() {
    for (breaker, hint, open_for) in rows! {
        strict(), secs(60), secs(60);
        strict(), secs(1), secs(1);
        strict(), Duration::ZERO, secs(1);
        strict(), millis(1), secs(1);
        strict(), secs(3_600), secs(120);
        strict().open_for(millis(10)), Duration::ZERO, millis(10);
        strict().open_for(secs(600)), secs(3_600), secs(600);
    } {
        let open = Some(opened(Cause::Consecutive, open_for));
        let later = hinted(Kind::Transient, hint);
        assert_eq!(call(&breaker, later), (true, open), "{hint:?}");
        advance(open_for.saturating_sub(millis(1))).await;
        assert!(breaker.admit().is_none(), "{hint:?}");
        advance(millis(1)).await;
        assert!(breaker.admit().is_some(), "{hint:?}");
    }
}

/// So it can be chosen again, although no trial call has begun.
#[tokio::test(start_paused = true)]
async fn it_is_no_longer_open_once_a_trial_may_begin() {
    let breaker = strict();
    assert!(!breaker.is_open());
    fail(&breaker, 1);
    advance(millis(4_999)).await;
    assert!(breaker.is_open());
    advance(millis(1)).await;
    assert!(!breaker.is_open());
    assert_eq!(breaker.state(), Open);
    let trial = breaker.admit().expect("half open");
    assert!(breaker.is_open(), "another call would be rejected");
    assert_eq!(breaker.admit(), None);
    advance(secs(5)).await;
    assert!(!breaker.is_open(), "the trial may hang");
    breaker.record(trial, AttemptOutcome::Ignored);
    assert!(!(&breaker as &dyn AdmissionControl).is_open());
    succeed(&breaker, 1);
    assert!(!breaker.is_open());
    breaker.force_open();
    advance(secs(3_600)).await;
    assert!(breaker.is_open());
    breaker.force_closed();
    assert!(!breaker.is_open());
}

#[tokio::test(start_paused = true)]
async fn throttled_attempts_count_if_they_are_to() {
    let throttled = failed(Kind::Throttled);
    let breaker = Breaker::new().consecutive_failures(2).count_throttled();
    assert_eq!(call(&breaker, throttled), (true, None));
    let open = Some(opened(Cause::Consecutive, secs(30)));
    let later = hinted(Kind::Throttled, secs(30));
    assert_eq!(call(&breaker, later), (true, open));
    advance(secs(30)).await;
    let open = Some(opened(Cause::Trial, secs(5)));
    assert_eq!(call(&breaker, throttled), (true, open));
}

#[tokio::test(start_paused = true)]
async fn it_stays_open_for_longer_after_each_failed_trial() {
    let patient = || strict().max_open_for(secs(35));
    for (breaker, times) in [
        (strict(), [5, 5, 5, 5, 5]),
        (patient(), [5, 10, 20, 35, 35]),
        (patient().open_for(secs(60)), [60; 5]),
    ] {
        for _ in 0..2 {
            let mut cause = Cause::Consecutive;
            for open_for in times {
                assert_opens(&breaker, cause, open_for);
                advance(secs(open_for).saturating_sub(millis(1))).await;
                assert!(breaker.is_open());
                advance(millis(1)).await;
                cause = Cause::Trial;
            }
            // Once it has closed, it starts again.
            assert_eq!(call(&breaker, SUCCESS).1, Some(Transition::Closed));
        }
    }
    // A hint is used as it is, and the time grows from the next failure on.
    let breaker = patient();
    fail(&breaker, 1);
    advance(secs(5)).await;
    let open = Some(opened(Cause::Trial, secs(2)));
    let soon = hinted(Kind::Transient, secs(2));
    assert_eq!(call(&breaker, soon), (true, open));
    advance(secs(2)).await;
    assert_opens(&breaker, Cause::Trial, 20);
}

/// A response counts even if it takes longer than the breaker stays open.
#[tokio::test(start_paused = true)]
async fn a_slow_trial_does_not_block_others_and_may_still_close_the_breaker() {
    for earlier in 0..2 {
        let breaker = half_open().await;
        let slow = breaker.admit().expect("half open");
        advance(secs(4)).await;
        assert!(breaker.admit().is_none());
        advance(secs(1)).await;
        // One more, and the next as long after it.
        let other = breaker.admit().expect("one more");
        assert!(breaker.admit().is_none());
        let mut trials = [slow, other];
        trials.rotate_left(earlier);
        let [first, second] = trials;
        assert_eq!(breaker.record(first, SUCCESS), Some(Transition::Closed));
        assert_eq!(breaker.record(second, FAILED), None, "too late");
    }
}

#[tokio::test(start_paused = true)]
async fn late_responses_change_nothing() {
    let breaker = Breaker::new().consecutive_failures(2);
    let late = [(); 4].map(|()| breaker.admit().unwrap());
    fail(&breaker, 2);
    let [while_open, half_open, closed, reopened] = late;
    assert_eq!(breaker.record(while_open, SUCCESS), None);
    assert_eq!(breaker.state(), Open);
    advance(secs(5)).await;
    let trial = breaker.admit().unwrap();
    assert_eq!(breaker.record(half_open, SUCCESS), None);
    assert_eq!(breaker.state(), HalfOpen);
    assert!(breaker.admit().is_none(), "its place is not free");
    breaker.record(trial, SUCCESS);
    assert_eq!(breaker.record(closed, FAILED), None);
    assert_eq!(breaker.record(reopened, FAILED), None);
    assert_eq!(breaker.state(), Closed);
}

#[test]
fn out_of_range_settings_are_rejected() {
    let nonsense: [fn(Breaker) -> Breaker; 14] = [
        |breaker| breaker.ratio(-1.0),
        |breaker| breaker.ratio(0.0),
        |breaker| breaker.ratio(1.1),
        |breaker| breaker.ratio(f64::NAN),
        |breaker| breaker.minimum_calls(0),
        |breaker| breaker.window(Duration::ZERO),
        |breaker| breaker.count_window(0),
        |breaker| breaker.slow(Duration::ZERO, 0.5),
        |breaker| breaker.slow(secs(1), 1.1),
        |breaker| breaker.trial_calls(0),
        |breaker| breaker.trial_successes(0),
        |breaker| breaker.trial_successes(2),
        |breaker| breaker.trial_calls(3).trial_successes(2).trial_calls(1),
        |breaker| breaker.trial_calls(3).trial_successes(4),
    ];
    for (row, set) in nonsense.into_iter().enumerate() {
        assert!(catch_unwind(|| set(Breaker::new())).is_err(), "row {row}");
    }
}

#[tokio::test(start_paused = true)]
async fn the_least_and_the_most_are_no_nonsense() {
    let least = Breaker::new().ratio(f64::MIN_POSITIVE).minimum_calls(1);
    fail(&least, 1);
    assert_eq!(least.state(), Open);
    let brief = strict().open_for(Duration::ZERO);
    fail(&brief, 1);
    assert!(brief.admit().is_none());
    advance(millis(1)).await;
    assert!(brief.admit().is_some());
    assert!(brief.admit().is_none());
    let long = Breaker::new().window(Duration::MAX).open_for(Duration::MAX);
    fail(&long, 100);
    assert!(long.admit().is_none());
}

#[tokio::test(start_paused = true)]
async fn settings_can_change_during_use() {
    let breaker = Breaker::new().count_window(2).ratio(1.0);
    succeed(&breaker, 1);
    fail(&breaker, 1);
    assert_eq!(breaker.state(), Closed);
    assert!(breaker.set_ratio(1.5).is_err());
    breaker.set_ratio(0.5).unwrap();
    breaker.set_open_for(secs(60));
    assert_opens(&breaker, Cause::Ratio, 60);
    // It is as it was set last, also after a reset.
    breaker.reset();
    succeed(&breaker, 1);
    assert_opens(&breaker, Cause::Ratio, 60);
}

#[tokio::test(start_paused = true)]
async fn a_listener_gets_every_change() {
    static HEARD: Mutex<Vec<Transition>> = Mutex::new(Vec::new());
    static BREAKER: Breaker = Breaker::new()
        .consecutive_failures(1)
        .hung_after(secs(1))
        .listener(|transition| {
            // It may ask the breaker.
            BREAKER.state();
            HEARD.lock().unwrap().push(transition);
        });

    // If its caller drops it, the call itself doesn't report.
    let permit = HeldPermit::admitted(&BREAKER);
    advance(secs(1)).await;
    drop(permit);
    advance(secs(5)).await;
    call(&BREAKER, SUCCESS);
    BREAKER.force_open();
    BREAKER.force_closed();
    BREAKER.reset();
    let expected = [
        opened(Cause::Consecutive, secs(5)),
        Transition::HalfOpened,
        Transition::Closed,
        opened(Cause::Forced, Duration::MAX),
        Transition::Closed,
        Transition::Closed,
    ];
    assert_eq!(*HEARD.lock().unwrap(), expected);
}

#[tokio::test(start_paused = true)]
async fn each_key_has_a_breaker_and_idle_ones_are_removed() {
    let hosts: Keyed<String, Breaker> = Keyed::new(2, || Breaker::new().consecutive_failures(2));
    fail(&hosts.of("down"), 2);
    fail(&hosts.of("failing"), 1);
    assert_eq!(Breaker::state(&hosts.of("down")), Open);
    assert_eq!(Breaker::state(&hosts.of("failing")), Closed);
    // No room: neither is at rest.
    let shared = hosts.of("new");
    assert!(Arc::ptr_eq(&hosts.of("another"), &shared));
    advance(secs(31)).await;
    succeed(&hosts.of("ok"), 1);
    assert!(!Arc::ptr_eq(&hosts.of("ok"), &shared));
    // It is open for 5 s, and then a window.
    assert_eq!(Breaker::state(&hosts.of("down")), Open);
    advance(secs(31)).await;
    assert!(!Arc::ptr_eq(&hosts.of("one more"), &shared));
    assert_eq!(hosts.len(), 1);
}

#[tokio::test(start_paused = true)]
async fn slow_calls_keep_a_key() {
    let hosts: Keyed<u32, Breaker> = Keyed::new(1, || Breaker::new().slow(secs(1), 0.5));
    let slow = Arc::downgrade(&hosts.of(&1));
    let pass = hosts.of(&1).admit().unwrap();
    advance(secs(1)).await;
    hosts.of(&1).record(pass, SUCCESS);
    hosts.of(&2);
    assert!(slow.upgrade().is_some());
    advance(secs(31)).await;
    hosts.of(&2);
    assert!(slow.upgrade().is_none());
}

proptest! {
    /// For any outcomes of the trials in any order, the numbers of running and successful trials match the slots, and
    /// no slot is lost.
    #[test]
    fn places_are_neither_lost_nor_invented(
        places in 1_u32..6,
        steps in proptest::collection::vec((0_u8..6, 0_usize..8), 0..60),
    ) {
        runtime::paused().block_on(async {
            let breaker = half_open().await.trial_calls(places);
            let (mut running, mut late) = (Vec::new(), Vec::new());
            let mut succeeded = 0;
            for (step, which) in steps {
                let mut end = |seen| {
                    (!running.is_empty()).then(|| {
                        let permit: Permit = running.swap_remove(which % running.len());
                        breaker.record(permit, seen)
                    })
                };
                match step {
                    0 | 1 => {
                        let pass = breaker.admit();
                        let free = (running.len() as u32) + succeeded < places;
                        prop_assert_eq!(pass.is_some(), free);
                        running.extend(pass);
                    }
                    2 => {
                        if let Some(turned) = end(SUCCESS) {
                            succeeded += 1;
                            let closes = succeeded == places;
                            prop_assert_eq!(turned, closes.then_some(Transition::Closed));
                            if closes {
                                // From the start again.
                                fail(&breaker, 1);
                                advance(secs(5)).await;
                                late.append(&mut running);
                                succeeded = 0;
                            }
                        }
                    }
                    3 => {
                        if let Some(turned) = end(FAILED) {
                            prop_assert_eq!(turned, Some(opened(Cause::Trial, secs(5))));
                            prop_assert!(breaker.admit().is_none());
                            advance(secs(5)).await;
                            late.append(&mut running);
                            succeeded = 0;
                        }
                    }
                    4 => prop_assert!(matches!(end(AttemptOutcome::Ignored), None | Some(None))),
                    _ => {
                        if let Some(pass) = late.pop() {
                            prop_assert_eq!(breaker.record(pass, SUCCESS), None);
                        }
                    }
                }
            }
            Ok(())
        })?;
    }
}
