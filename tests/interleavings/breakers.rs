//! Permits are never created or lost; a state is left once, and late outcomes change nothing.

use std::sync::Arc;
use std::time::Duration;

use retry_runtime::seam::{AttemptOutcome, BreakerState, Change, Permit, Transition};
use shuttle::thread;
use support::held_permit::{Admit, CLOSED, HeldPermit};

use crate::breaker::circuit::Breaker;
use crate::classify::kind::Kind;
use crate::clock;
use crate::many;

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

/// One whose time is over, so that the next is a trial.
fn open(places: u32) -> Arc<Breaker> {
    begin();
    let breaker = Breaker::new().consecutive_failures(1).trial_calls(places);
    breaker.record(admitted(&breaker), FAILURE);
    clock::set(Duration::from_secs(105));
    Arc::new(breaker)
}

/// Runs the threads at the same time. Returns their results.
fn at_once<T: Send + 'static>(
    breaker: &Arc<Breaker>,
    threads: usize,
    work: impl Fn(&Breaker, usize) -> T + Send + Sync + 'static,
) -> Vec<T> {
    let work = Arc::new(work);
    let threads: Vec<_> = (0..threads)
        .map(|number| {
            let (breaker, work) = (Arc::clone(breaker), Arc::clone(&work));
            thread::spawn(move || work(&breaker, number))
        })
        .collect();
    let ended = threads.into_iter().map(|thread| thread.join().unwrap());
    ended.collect()
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
            let seen = if number == 0 {
                FAILURE
            } else {
                AttemptOutcome::Success
            };
            breaker.record(pass, seen)
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

/// Successes that are counted without the lock are all counted: with one fewer, it would open.
#[test]
fn no_success_is_lost() {
    many(|| {
        begin();
        let breaker = Arc::new(Breaker::new().ratio(0.5).minimum_calls(32));
        // The number that is then counted without the lock.
        for _ in 0..32 {
            breaker.record(admitted(&breaker), AttemptOutcome::Success);
        }
        at_once(&breaker, 3, |breaker, _| {
            for _ in 0..4 {
                assert_eq!(
                    breaker.record(admitted(breaker), AttemptOutcome::Success),
                    None
                );
            }
        });
        for _ in 0..43 {
            assert_eq!(breaker.record(admitted(&breaker), FAILURE), None);
        }
        let last = breaker.record(admitted(&breaker), FAILURE);
        assert!(matches!(last, Some(Transition::Opened { .. })));
    });
}

/// They aren't counted twice, no matter which thread flushes them.
#[test]
fn successes_and_failures_at_once_are_counted_once() {
    many(|| {
        begin();
        let breaker = Arc::new(Breaker::new().ratio(0.5).minimum_calls(32));
        for _ in 0..32 {
            breaker.record(admitted(&breaker), AttemptOutcome::Success);
        }
        at_once(&breaker, 3, |breaker, number| {
            let seen = if number == 0 {
                FAILURE
            } else {
                AttemptOutcome::Success
            };
            for _ in 0..4 {
                assert_eq!(breaker.record(admitted(breaker), seen), None);
            }
        });
        // 40 successes and 4 failures.
        for _ in 0..35 {
            assert_eq!(breaker.record(admitted(&breaker), FAILURE), None);
        }
        let last = breaker.record(admitted(&breaker), FAILURE);
        assert!(matches!(last, Some(Transition::Opened { .. })));
    });
}

/// A pass of the first state, recorded while the breaker opens, turns half open and closes.
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
fn numbers_change_together() {
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
