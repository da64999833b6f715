//! `key(value)` means the same as `key = value`.

use std::cell::Cell;

use retry_runtime::retry;

#[retry(
    max(2),
    backoff("exp"),
    base(1ms),
    factor(1.5),
    cap("2ms"),
    jitter("none"),
    on(|_| retry_runtime::Verdict::TRANSIENT),
    until(|value| *value > 3),
    hint("ignore"),
    deadline(1m),
    idempotent(false),
    throttled(max(1)),
    attempt(current),
    name("model.complete"),
    repeats(5),
    give_up(|gave_up| gave_up.attempts()),
)]
async fn complete(attempts: &Cell<u32>) -> Result<u32, u32> {
    attempts.set(current.number());
    Err(7)
}

#[tokio::main(flavor = "current_thread", start_paused = true)]
pub(crate) async fn main() {
    let attempts = Cell::new(0);
    assert_eq!(complete(&attempts).await, Err(3));
    assert_eq!(attempts.get(), 3);
}
