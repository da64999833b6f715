//! Arguments, the body's locals and the keys' values with names that generated code uses, too.

use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

static ATTEMPTS: AtomicU32 = AtomicU32::new(0);

macro_rules! sum {
    ($($name:ident)*) => {
        0 $(+ $name)*
    };
}

macro_rules! increase {
    ($($name:ident)*) => {
        $(let $name = $name + 1;)*
    };
}

/// Every value of a key reads the arguments, never what is generated.
#[::retry_runtime::retry(
    max = pause + call,
    base = Duration::from_millis(u64::from(base_of(value, error, outcome))),
    cap = Duration::from_secs(u64::from(history + policy)),
    factor = observer + attempt,
    throttled(max = verdict),
    timeout = Duration::from_secs(u64::from(timeout + dropped + finished)),
    deadline = Duration::from_secs(u64::from(deadline + reason + 60)),
    hedge = Duration::from_secs(u64::from(dropped + value + 60)),
    idempotent = value + error > 0,
    repeats = error + outcome + value + 6,
    on = |_| ::retry_runtime::Verdict::from(
        call + pause + outcome + value + error + verdict + history + policy + observer + attempt + reason + dropped == 12,
    ),
    until = |_| value + call + history == 3,
    observe = |_| assert_eq!(observer + event + call + value + error + verdict, 6),
    give_up = |given| {
        assert_eq!(history + error + reason + gave_up, 4);
        given.into_error()
    }
)]
async fn arguments(
    attempt: u32,
    begin: u32,
    call: u32,
    cap: u32,
    deadline: u32,
    delay: u32,
    dropped: u32,
    error: u32,
    errors: u32,
    event: u32,
    finished: u32,
    give_up: u32,
    gave_up: u32,
    hint: u32,
    history: u32,
    inner: u32,
    kind: u32,
    limit: u32,
    max: u32,
    name: u32,
    observe: u32,
    observer: u32,
    on: u32,
    outcome: u32,
    pause: u32,
    policy: u32,
    reason: u32,
    result: u32,
    retry: u32,
    retry_runtime: u32,
    same: u32,
    sleep: u32,
    support: u32,
    this: u32,
    timeout: u32,
    timer: u32,
    until: u32,
    value: u32,
    verdict: u32,
) -> Result<u32, std::io::Error> {
    ATTEMPTS.fetch_add(1, Ordering::Relaxed);
    let sum = sum! {
        attempt begin call cap deadline delay dropped error errors event finished give_up gave_up hint
        history inner kind limit max name observe observer on outcome pause policy reason result retry
        retry_runtime same sleep support this timeout timer until value verdict
    };
    assert_eq!(sum, 39);
    Err(std::io::Error::other("overloaded"))
}

fn base_of(value: u32, error: u32, outcome: u32) -> u32 {
    value + error + outcome
}

#[::retry_runtime::retry(max = pause + call, base = "1ms", on = |_| value + error + outcome + verdict + history == 5)]
fn blocking(
    attempt: u32,
    begin: u32,
    call: u32,
    cap: u32,
    deadline: u32,
    delay: u32,
    dropped: u32,
    error: u32,
    errors: u32,
    event: u32,
    finished: u32,
    give_up: u32,
    gave_up: u32,
    hint: u32,
    history: u32,
    inner: u32,
    kind: u32,
    limit: u32,
    max: u32,
    name: u32,
    observe: u32,
    observer: u32,
    on: u32,
    outcome: u32,
    pause: u32,
    policy: u32,
    reason: u32,
    result: u32,
    retry: u32,
    retry_runtime: u32,
    same: u32,
    sleep: u32,
    support: u32,
    this: u32,
    timeout: u32,
    timer: u32,
    until: u32,
    value: u32,
    verdict: u32,
) -> Result<u32, u32> {
    ATTEMPTS.fetch_add(1, Ordering::Relaxed);
    increase! {
        attempt begin call cap deadline delay dropped error errors event finished give_up gave_up hint
        history inner kind limit max name observe observer on outcome pause policy reason result retry
        retry_runtime same sleep support this timeout timer until value verdict
    }
    Err(sum! {
        attempt begin call cap deadline delay dropped error errors event finished give_up gave_up hint
        history inner kind limit max name observe observer on outcome pause policy reason result retry
        retry_runtime same sleep support this timeout timer until value verdict
    })
}

/// The name that the user gave is theirs; the argument of the same name is behind it.
#[::retry_runtime::retry(max = 2, backoff = "none", attempt = call, on = |error| *error > 0)]
async fn attempt_under_another_name(pause: u32) -> Result<u32, u32> {
    ATTEMPTS.fetch_add(1, Ordering::Relaxed);
    Err(call.number() + pause)
}

#[::retry_runtime::retry(max = 2, backoff = "none", attempt = history, on = |error| *error > 0)]
async fn attempt_as_history() -> Result<u32, u32> {
    let call = history.number();
    let outcome = call;
    ATTEMPTS.fetch_add(1, Ordering::Relaxed);
    Err(outcome)
}

#[tokio::main(flavor = "current_thread", start_paused = true)]
pub(crate) async fn main() {
    let attempts = || ATTEMPTS.swap(0, Ordering::Relaxed);
    assert!(
        arguments(
            1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1,
            1, 1, 1, 1, 1, 1, 1, 1, 1, 1
        )
        .await
        .is_err()
    );
    assert_eq!(attempts(), 3);
    assert_eq!(
        blocking(
            1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1,
            1, 1, 1, 1, 1, 1, 1, 1, 1, 1
        ),
        Err(78)
    );
    assert_eq!(attempts(), 3);
    assert_eq!(attempt_under_another_name(10).await, Err(13));
    assert_eq!(attempts(), 3);
    assert_eq!(attempt_as_history().await, Err(3));
    assert_eq!(attempts(), 3);
}
