//! Permits are never created or lost; a state is left once, and late outcomes change nothing.

use std::sync::Arc;
use std::time::Duration;

use retry_runtime::seam::{AttemptOutcome, BreakerState, Change, Permit, Transition};
use support::held_permit::{Admit, CLOSED, HeldPermit};

use crate::breaker::circuit::Breaker;
use crate::classify::kind::Kind;
use crate::clock;
use crate::{at_once, many};

const FAILURE: AttemptOutcome = AttemptOutcome::Failure {
    kind: Kind::Transient,
    hint: None,
};

fn begin() {
    clock::set(Duration::from_secs(100));
}

fn admitted(breaker: &Breaker) -> Permit {
    breaker.admit().expect("it is closed")
}

/// Returns an open breaker whose time is over, so that the next attempt is a trial call.
fn open(places: u32) -> Arc<Breaker> {
    begin();
    let breaker = Breaker::new().consecutive_failures(1).trial_calls(places);
    breaker.record(admitted(&breaker), FAILURE);
    clock::set(Duration::from_secs(105));
    Arc::new(breaker)
}

/// A success after a failure of the first thread.
fn only_the_first_fails(number: usize) -> AttemptOutcome {
    match number {
        0 => FAILURE,
        _ => AttemptOutcome::Success,
    }
}

/// Records outcomes that leave the state as it is.
fn record(breaker: &Breaker, outcome: AttemptOutcome, times: u32) {
    for _ in 0..times {
        assert_eq!(breaker.record(admitted(breaker), outcome), None);
    }
}

#[test]
fn half_open_admits_the_trial_calls_and_one_transition_happens() {
    many(|| {
        let breaker = open(2);
        let passes = at_once(&breaker, 3, |breaker, _| breaker.admit());
        let passes: Vec<_> = passes.into_iter().flatten().collect();
        assert_eq!(passes.len(), 2);
        let first = passes.iter().filter(|pass| pass.half_opens());
        assert_eq!(first.count(), 1);
    });
}

#[test]
fn a_dropped_trial_releases_its_slot() {
    many(|| {
        let breaker = open(1);
        at_once(&breaker, 2, |breaker, _| {
            drop(HeldPermit::admitted(breaker));
        });
        assert_eq!(Breaker::state(&breaker), BreakerState::HalfOpen);
        let mut permit = HeldPermit::admitted(&breaker).expect("the place is free");
        assert!(HeldPermit::admitted(&breaker).is_none());
        assert_eq!(permit.succeeded(), CLOSED);
    });
}

#[test]
fn the_breaker_closes_once_all_trials_have_succeeded() {
    many(|| {
        let breaker = open(2);
        let turned = at_once(&breaker, 2, |breaker, _| {
            let mut permit = HeldPermit::admitted(breaker).expect("a place for each");
            permit.succeeded()
        });
        let turned: Vec<_> = turned.into_iter().flatten().flatten().collect();
        assert_eq!(turned, [Change::Breaker(Transition::Closed)]);
        assert_eq!(Breaker::state(&breaker), BreakerState::Closed);
    });
}

/// The trial that ends first decides, and the other changes nothing.
#[test]
fn a_failed_trial_opens_the_breaker() {
    many(|| {
        let breaker = open(2);
        let turned = at_once(&breaker, 2, |breaker, number| {
            let pass = breaker.admit()?;
            breaker.record(pass, only_the_first_fails(number))
        });
        assert_eq!(turned.iter().flatten().count(), 1);
        assert!(matches!(turned[0], Some(Transition::Opened { .. })));
        assert_eq!(Breaker::state(&breaker), BreakerState::Open);
        assert!(breaker.admit().is_none());
    });
}

#[test]
fn the_breaker_opens_once() {
    many(|| {
        begin();
        let breaker = Arc::new(Breaker::new().ratio(1.0).minimum_calls(3));
        let turned = at_once(&breaker, 3, |breaker, _| {
            let pass = breaker.admit()?;
            breaker.record(pass, FAILURE)
        });
        assert_eq!(turned.iter().flatten().count(), 1);
        assert_eq!(Breaker::state(&breaker), BreakerState::Open);
    });
}

/// Those that are recorded without the lock, too, no matter which thread flushes them: if a success were lost, the
/// breaker would open one failure earlier.
#[test]
fn outcomes_at_once_are_counted_once() {
    type Outcome = fn(usize) -> AttemptOutcome;
    // 44 successes, or 40 and 4 failures.
    let cases: [(Outcome, u32); 2] = [
        (|_| AttemptOutcome::Success, 43),
        (only_the_first_fails, 35),
    ];
    for (outcome, failures) in cases {
        many(move || {
            begin();
            let breaker = Arc::new(Breaker::new().ratio(0.5).minimum_calls(32));
            // Enough for the next to be counted without the lock.
            record(&breaker, AttemptOutcome::Success, 32);
            at_once(&breaker, 3, move |breaker, number| {
                record(breaker, outcome(number), 4);
            });
            // It opens after this number of failures, at the next one.
            record(&breaker, FAILURE, failures);
            let last = breaker.record(admitted(&breaker), FAILURE);
            assert!(matches!(last, Some(Transition::Opened { .. })));
        });
    }
}

/// Permits of the closed state are used while the breaker opens, turns half open and closes.
#[test]
fn late_outcomes_change_nothing() {
    many(|| {
        begin();
        let breaker = Arc::new(Breaker::new().consecutive_failures(1));
        let late = [admitted(&breaker), admitted(&breaker)];
        let late = std::sync::Mutex::new(Vec::from(late));
        breaker.record(admitted(&breaker), FAILURE);
        clock::set(Duration::from_secs(105));
        at_once(&breaker, 2, move |breaker, number| {
            if number == 0 {
                let pass = late.lock().unwrap().pop().unwrap();
                assert_eq!(breaker.record(pass, FAILURE), None);
                let pass = late.lock().unwrap().pop().unwrap();
                assert_eq!(breaker.record(pass, AttemptOutcome::Success), None);
            } else {
                let trial = breaker.admit().expect("half open");
                let turned = breaker.record(trial, AttemptOutcome::Success);
                assert_eq!(turned, Some(Transition::Closed));
            }
        });
        assert_eq!(Breaker::state(&breaker), BreakerState::Closed);
    });
}

/// A breaker that opens at the new ratio stays open for the new time.
#[test]
fn ratio_and_open_time_change_together() {
    const LONG: Duration = Duration::from_secs(60);

    many(|| {
        begin();
        let breaker = Arc::new(Breaker::new().count_window(2).ratio(1.0));
        let turned = at_once(&breaker, 2, |breaker, number| {
            if number == 0 {
                breaker.set_numbers(Some(0.5), Some(LONG));
                return None;
            }
            breaker.record(admitted(breaker), AttemptOutcome::Success);
            breaker.record(admitted(breaker), FAILURE)
        });
        for transition in turned.into_iter().flatten() {
            assert!(matches!(
                transition,
                Transition::Opened { open_for: LONG, .. }
            ));
        }
    });
}
