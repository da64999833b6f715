//! A trait of the user's with the names that generated code calls, for every type.

#![allow(dead_code)]

use std::cell::Cell;

use retry_runtime::retry;

trait Meddler: Sized {
    fn failed<T>(&self, _: T) -> u8 {
        panic!("not this one")
    }
    fn attempt(&self) -> u8 {
        panic!("not this one")
    }
    fn retry_show(&self) -> u8 {
        panic!("not this one")
    }
    fn into_result(self) -> u8 {
        panic!("not this one")
    }
    fn classify(&self) -> u8 {
        panic!("not this one")
    }
    fn deadline<T>(self, _: T) -> u8 {
        panic!("not this one")
    }
    fn idempotent(self, _: bool) -> u8 {
        panic!("not this one")
    }
    fn repeated(self, _: bool) -> u8 {
        panic!("not this one")
    }
    fn observe<T>(self, _: T) -> u8 {
        panic!("not this one")
    }
    fn max(self, _: u32) -> u8 {
        panic!("not this one")
    }
    fn sleep<T>(&self, _: T) -> u8 {
        panic!("not this one")
    }
    fn ambiguous(self) -> u8 {
        panic!("not this one")
    }
}

impl<T> Meddler for T {}

trait ByValue: Sized {
    fn is_retried(self) -> u8 {
        panic!("not this one")
    }
    fn sleep_out(self) -> u8 {
        panic!("not this one")
    }
}

impl<T> ByValue for T {}

#[derive(Debug, PartialEq, Eq)]
struct Busy(u32);

impl retry_runtime::Classify for Busy {
    fn classify(&self) -> retry_runtime::Verdict {
        retry_runtime::Verdict::TRANSIENT.ambiguous()
    }
}

#[retry(
    max = 2,
    base = "1ms",
    deadline = "1m",
    idempotent = true,
    repeats = 3,
    attempt = attempt,
    observe = |_| {}
)]
async fn complete(attempts: &Cell<u32>) -> Result<u32, Busy> {
    attempts.set(attempt.number());
    Err(Busy(attempts.get()))
}

#[retry(max = 2, backoff = "none")]
fn blocking(attempts: &Cell<u32>) -> Result<u32, Busy> {
    attempts.set(attempts.get() + 1);
    Err(Busy(attempts.get()))
}

#[tokio::main(flavor = "current_thread", start_paused = true)]
pub(crate) async fn main() {
    assert_eq!(complete(&Cell::new(0)).await, Err(Busy(3)));
    assert_eq!(blocking(&Cell::new(0)), Err(Busy(3)));
}
