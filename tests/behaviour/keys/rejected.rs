//! The key `rejected`: attempts that a breaker or a limiter let not begin are tried again.

use std::future::pending;
use std::pin::pin;
use std::time::Duration;

use retry_runtime::{
    Breaker, Budget, ConcurrencyLimiter, Jitter, Place, Policy, Section, retry, testing,
};
use support::failure::{Failure, STOP, TRANSIENT};
use tokio::time::{Instant, advance, sleep, timeout};

use crate::keys::breaker::open;
use crate::keys::{Script, millis, secs};

const AGAIN: Section = Section::new().max(2).base(Duration::from_secs(1));
const POLICY: Policy = Policy::new().jitter(Jitter::None).rejected(AGAIN);

#[retry(max = 3, jitter = "none", rejected(max = 2, base = "1s"), name = "call", breaker = breaker)]
async fn call(breaker: &Breaker, script: &mut Script) -> Result<usize, Failure> {
    script.next()
}

#[tokio::test(start_paused = true)]
async fn a_call_waits_until_the_breaker_is_half_open() {
    let recording = testing::record();
    let start = Instant::now();
    assert_eq!(call(&open(), &mut Script::new([TRANSIENT])).await, Ok(2));
    assert_eq!(recording.lines(), [""]);
    assert_eq!(start.elapsed(), secs(5));
}
