//! Permits that a test holds.

use std::mem::take;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering::SeqCst};
use std::task::Waker;
use std::time::Duration;

use retry_runtime::Kind;
use retry_runtime::seam::{
    Admission, AdmissionControl, AttemptOutcome, Change, Changes, Permit, Transition,
};

/// An attempt that failed in passing.
pub const FAILED: AttemptOutcome = failed(Kind::Transient);

/// The outcome of an attempt that failed without a hint.
pub const fn failed(kind: Kind) -> AttemptOutcome {
    AttemptOutcome::Failure { kind, hint: None }
}

/// The outcome of an attempt that failed with a hint.
pub const fn hinted(kind: Kind, hint: Duration) -> AttemptOutcome {
    let hint = Some(hint);
    AttemptOutcome::Failure { kind, hint }
}

/// No change.
pub const UNCHANGED: Changes = [None; 2];

/// The breaker closes.
pub const CLOSED: Changes = [Some(Change::Breaker(Transition::Closed)), None];

/// Asks a breaker as the key `breaker` does.
pub trait Admit: AdmissionControl {
    /// Returns the permit of an attempt that may start now.
    fn admit(&self) -> Option<Permit> {
        let mut permit = self.enter(1);
        if self.poll(&mut permit, Waker::noop()) == Admission::Admitted {
            return Some(permit);
        }
        self.leave(permit, AttemptOutcome::NotBegun);
        None
    }

    /// Records an attempt that failed in passing.
    fn fail(&self) -> Option<Transition> {
        self.record(self.admit().expect("admitted"), FAILED)
    }

    /// Records the outcome of an admitted attempt.
    fn record(&self, permit: Permit, outcome: AttemptOutcome) -> Option<Transition> {
        match self.leave(permit, outcome) {
            [Some(Change::Breaker(transition)), None] => Some(transition),
            changes => {
                assert_eq!(changes, [None; 2]);
                None
            }
        }
    }
}

impl<C: AdmissionControl + ?Sized> Admit for C {}

/// A permit that is given back when it is dropped.
#[derive(Debug)]
pub struct HeldPermit<C: AdmissionControl> {
    control: C,
    permit: Option<Permit>,
    is_admitted: bool,
}

impl<C: AdmissionControl> HeldPermit<C> {
    /// Enters, and asks once.
    pub fn new(control: C) -> Self {
        let mut held = Self {
            permit: Some(control.enter(1)),
            control,
            is_admitted: false,
        };
        held.poll(Waker::noop());
        held
    }

    /// Returns the permit of an attempt that may start now.
    pub fn admitted(control: C) -> Option<Self> {
        Some(Self::new(control)).filter(Self::has_turn)
    }

    /// Asks again.
    pub fn poll(&mut self, waker: &Waker) -> Admission {
        let permit = self.permit.as_mut().expect("not given back");
        let admission = self.control.poll(permit, waker);
        self.is_admitted = admission == Admission::Admitted;
        admission
    }

    /// Returns true if the attempt may start.
    pub fn has_turn(&self) -> bool {
        self.is_admitted
    }

    /// The attempt succeeded.
    pub fn succeeded(&mut self) -> Changes {
        self.record(AttemptOutcome::Success)
    }

    /// Returns the permit of an attempt that does not start.
    pub fn give_back(mut self) {
        self.record(AttemptOutcome::NotBegun);
    }

    /// Gives the permit back.
    pub fn record(&mut self, outcome: AttemptOutcome) -> Changes {
        match self.permit.take() {
            Some(permit) => self.control.leave(permit, outcome),
            None => [None; 2],
        }
    }
}

impl<C: AdmissionControl> Drop for HeldPermit<C> {
    fn drop(&mut self) {
        let outcome = if self.is_admitted {
            AttemptOutcome::Dropped
        } else {
            AttemptOutcome::NotBegun
        };
        self.record(outcome);
    }
}

/// Admits every attempt, and records the outcomes. Attempts must end in the order in which they began.
#[derive(Debug, Default)]
pub struct Outcomes {
    entered: AtomicU64,
    left: AtomicU64,
    ended: Mutex<Vec<AttemptOutcome>>,
}

impl Outcomes {
    /// Returns the outcomes since the last time.
    pub fn take(&self) -> Vec<AttemptOutcome> {
        take(&mut self.ended.lock().unwrap())
    }

    /// Returns the number of attempts that entered.
    pub fn entered(&self) -> u64 {
        self.entered.load(SeqCst)
    }
}

impl AdmissionControl for Outcomes {
    fn enter(&self, cost: u32) -> Permit {
        Permit::new(self.entered.fetch_add(1, SeqCst), cost)
    }

    fn poll(&self, _: &mut Permit, _: &Waker) -> Admission {
        Admission::Admitted
    }

    fn leave(&self, permit: Permit, outcome: AttemptOutcome) -> Changes {
        assert_eq!(permit.number(), self.left.fetch_add(1, SeqCst));
        self.ended.lock().unwrap().push(outcome);
        UNCHANGED
    }
}
