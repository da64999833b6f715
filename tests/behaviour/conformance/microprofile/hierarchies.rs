//! The standard's 81 tests of exception hierarchies: `retryOn`, `failOn` or `applyOn` must name the exception or an
//! ancestor, and `abortOn` or `skipOn` must name neither.

use std::sync::atomic::Ordering::SeqCst;

use support::prelude::*;

/// The exceptions thrown in each of three services.
pub(super) const ROWS: usize = THROWN.len() * SERVICES.len();

#[derive(Clone, Copy, Debug, PartialEq)]
enum Thrown {
    Exception,
    E0,
    E1,
    E2,
    E2S,
    E1S,
    E0S,
    RuntimeException,
    Error,
}

use Thrown::{E0, E0S, E1, E1S, E2, E2S, Error, Exception, RuntimeException};

const THROWN: [Thrown; 9] = [
    Exception,
    E0,
    E1,
    E2,
    E2S,
    E1S,
    E0S,
    RuntimeException,
    Error,
];

impl Thrown {
    fn is(self, ancestor: Self) -> bool {
        let parent = match self {
            Exception | Error => None,
            E0 | RuntimeException => Some(Exception),
            E1 | E0S => Some(E0),
            E2 | E1S => Some(E1),
            E2S => Some(E2),
        };
        self == ancestor || parent.is_some_and(|parent| parent.is(ancestor))
    }
}

impl From<Rejected> for Thrown {
    fn from(_: Rejected) -> Self {
        Error
    }
}

/// On what a service acts, and on what not; and what it acts on of all that is thrown.
struct Service(&'static [Thrown], &'static [Thrown], &'static [Thrown]);

impl Service {
    fn acts(&self, thrown: Thrown) -> bool {
        let names = |named: &[Thrown]| named.iter().any(|ancestor| thrown.is(*ancestor));
        names(self.0) && !names(self.1)
    }
}

const SERVICES: [Service; 3] = [
    Service(&[E0, E2], &[E1], &[E0, E0S]),
    Service(&[Exception, E1], &[E0, E2], &[Exception, RuntimeException]),
    Service(&[E1, E2], &[E0], &[]),
];

/// `RetryExceptionHierarchyTest`.
#[retry(max = 1, backoff = "none", on = |thrown| service.acts(*thrown))]
fn retried(service: &Service, thrown: Thrown, count: &AtomicU32) -> Result<(), Thrown> {
    count.fetch_add(1, SeqCst);
    Err(thrown)
}

/// `CircuitBreakerExceptionHierarchyTest`: `failOn` doesn't affect retries.
#[retry(
    breaker = breaker,
    on = |thrown| if service.acts(*thrown) { Verdict::TRANSIENT.once() } else { Verdict::STOP },
)]
fn counted(service: &Service, thrown: Thrown, breaker: &Breaker) -> Result<(), Thrown> {
    Err(thrown)
}

/// `FallbackExceptionHierarchyTest`.
#[retry(max = 0, on = |_| true, fallback = |gave_up| match gave_up.into_error() {
    thrown if service.acts(thrown) => Ok(()),
    thrown => Err(thrown),
})]
fn replaced(service: &Service, thrown: Thrown) -> Result<(), Thrown> {
    Err(thrown)
}

#[test]
fn each_service_acts_on_what_it_names() {
    for (number, service) in SERVICES.iter().enumerate() {
        for thrown in THROWN {
            let acts = service.2.contains(&thrown);
            let place = format!("service {number} throws {thrown:?}");
            let (count, breaker) = (AtomicU32::new(0), Breaker::new().count_window(1));
            retried(service, thrown, &count).unwrap_err();
            assert_eq!(count.load(SeqCst) == 2, acts, "{place}");
            counted(service, thrown, &breaker).unwrap_err();
            assert_eq!(breaker.state() == BreakerState::Open, acts, "{place}");
            assert_eq!(replaced(service, thrown).is_ok(), acts, "{place}");
        }
    }
}
