//! The standard's 81 tests of exception hierarchies: `retryOn`, `failOn` or `applyOn` must name the exception or an
//! ancestor, and `abortOn` or `skipOn` must name neither.

use std::sync::atomic::Ordering::SeqCst;

use support::prelude::*;

/// The exceptions thrown in each of three services.
pub(super) const ROWS: usize = 9 * SERVICES.len();

const THROWN: &str = "Exception E0 E1 E2 E2S E1S E0S RuntimeException Error";

/// An exception, by its name.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Thrown(&'static str);

impl Thrown {
    fn is(self, ancestor: &str) -> bool {
        let parent = match self.0 {
            "E0" | "RuntimeException" => "Exception",
            "E1" | "E0S" => "E0",
            "E2" | "E1S" => "E1",
            "E2S" => "E2",
            _ => return self.0 == ancestor,
        };
        self.0 == ancestor || Self(parent).is(ancestor)
    }
}

impl From<Rejected> for Thrown {
    fn from(_: Rejected) -> Self {
        Self("Error")
    }
}

/// On what a service acts, and on what not; and what it acts on of all that is thrown.
struct Service(&'static str, &'static str, &'static str);

impl Service {
    fn acts(&self, thrown: Thrown) -> bool {
        let names = |named: &str| named.split(' ').any(|ancestor| thrown.is(ancestor));
        names(self.0) && !names(self.1)
    }
}

const SERVICES: [Service; 3] = [
    Service("E0 E2", "E1", "E0 E0S"),
    Service("Exception E1", "E0 E2", "Exception RuntimeException"),
    Service("E1 E2", "E0", ""),
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
    let mut thrown_by_all = 0;
    for (number, service) in SERVICES.iter().enumerate() {
        for thrown in THROWN.split(' ').map(Thrown) {
            thrown_by_all += 1;
            let acts = service.2.split(' ').any(|name| name == thrown.0);
            let place = format!("service {number} throws {thrown:?}");
            let (count, breaker) = (AtomicU32::new(0), Breaker::new().count_window(1));
            retried(service, thrown, &count).unwrap_err();
            assert_eq!(count.load(SeqCst) == 2, acts, "{place}");
            counted(service, thrown, &breaker).unwrap_err();
            assert_eq!(breaker.state() == BreakerState::Open, acts, "{place}");
            assert_eq!(replaced(service, thrown).is_ok(), acts, "{place}");
        }
    }
    assert_eq!(thrown_by_all, ROWS);
}
