//! A user's trait with the names of methods that generated code calls, implemented for every type.

#![allow(dead_code)]

use std::cell::Cell;

use retry_runtime::retry;

macro_rules! panicking {
    ($(trait $trait:ident { $(fn $name:ident $(<$T:ident>)? ($($arguments:tt)*);)* })*) => {$(
        trait $trait: Sized {
            $(fn $name $(<$T>)? ($($arguments)*) -> u8 {
                panic!("not this one")
            })*
        }

        impl<T> $trait for T {}
    )*};
}

panicking! {
    trait Meddler {
        fn failed<T>(&self, _: T);
        fn attempt(&self);
        fn retry_show(&self);
        fn into_result(self);
        fn classify(&self);
        fn deadline<T>(self, _: T);
        fn idempotent(self, _: bool);
        fn repeated(self, _: bool);
        fn observe<T>(self, _: T);
        fn max(self, _: u32);
        fn sleep<T>(&self, _: T);
        fn ambiguous(self);
    }

    trait ByValue {
        fn is_retried(self);
        fn sleep_out(self);
    }
}

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
