//! Generic, empty and borrowed error types.

#![deny(warnings)]
#![allow(dead_code)]

use std::cell::Cell;
use std::time::Duration;

use retry_runtime::{Classify, Verdict, retry};

// Constants in scope of the derive, whose patterns bind their own names.
#[allow(non_upper_case_globals)]
const after: u32 = 1;
#[allow(non_upper_case_globals)]
static inner: u32 = 1;

#[derive(Debug, Classify)]
enum Wrapped<'a, E> {
    #[classify(transparent)]
    Inner(E),
    #[classify(throttled, after = 0, ambiguous)]
    Busy(Duration, &'a str),
}

#[derive(Debug, Classify)]
#[classify(transient)]
struct Overloaded;

#[derive(Debug, Classify)]
enum Never {}

#[derive(Debug, Classify)]
#[classify(transparent)]
struct Newtype<E>(E);

#[retry(max = 2, backoff = "none")]
fn complete(attempts: &Cell<u32>) -> Result<Never, Newtype<Wrapped<'static, Overloaded>>> {
    attempts.set(attempts.get() + 1);
    Err(Newtype(Wrapped::Inner(Overloaded)))
}

pub(crate) fn main() {
    let attempts = Cell::new(0);
    assert!(complete(&attempts).is_err());
    assert_eq!(attempts.get(), 3);

    let second = Duration::from_secs(1);
    let busy = Wrapped::<Overloaded>::Busy(second, "later");
    let expected = Verdict::THROTTLED.ambiguous().after(second);
    assert_eq!(busy.classify(), expected);
}
