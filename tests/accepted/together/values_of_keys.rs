//! Values of keys: in parentheses, read from the arguments, in pointers, and none.

use std::cell::Cell;
use std::io;
use std::sync::{Arc, LazyLock};
use std::time::Duration;

use retry_runtime::{Backoff, Classify, EventData, Jitter, Policy, retry};

#[derive(Debug, PartialEq, Classify)]
enum ModelError {
    #[classify(transient)]
    Overloaded,
    #[classify(stop)]
    Unauthorized,
}

/// Three retries, with the error type's `Classify`.
#[retry]
async fn complete(attempts: &Cell<u32>) -> Result<&'static str, ModelError> {
    attempts.set(attempts.get() + 1);
    if attempts.get() < 4 {
        Err(ModelError::Overloaded)
    } else {
        Ok("hello")
    }
}

#[retry()]
async fn log_in(attempts: &Cell<u32>) -> Result<(), ModelError> {
    attempts.set(attempts.get() + 1);
    Err(ModelError::Unauthorized)
}

/// `key(value)` means the same as `key = value`.
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
async fn in_parentheses(attempts: &Cell<u32>) -> Result<u32, u32> {
    attempts.set(current.number());
    Err(7)
}

struct Client {
    left: u32,
    attempts: u32,
    events: Cell<u32>,
    name: String,
}

/// Values that read `self` and the arguments at each failure, even if the body mutates them.
impl Client {
    #[retry(
        max = self.left,
        backoff = if slow { Backoff::Fixed } else { Backoff::None },
        base = Duration::from_millis(self.left.into()),
        jitter = Jitter::None,
        on = |error| *error == self.attempts,
        observe = |event| self.events.set(self.events.get() + u32::from(matches!(event.data, EventData::Retrying { .. }))),
        name = self.name
    )]
    async fn complete(&mut self, slow: bool) -> Result<u32, u32> {
        self.attempts += 1;
        self.left = 4;
        Err(self.attempts)
    }
}

static POLICY: LazyLock<Policy> = LazyLock::new(Policy::none);

#[retry(policy = &*POLICY)]
fn lazy() -> io::Result<u32> {
    Ok(1)
}

#[retry(policy = *policy)]
fn shared(policy: Arc<Policy>) -> io::Result<u32> {
    Ok(2)
}

#[retry(policy = policy.unwrap_or(Policy::none()))]
fn optional(policy: Option<Policy>) -> io::Result<u32> {
    Ok(3)
}

#[tokio::main(flavor = "current_thread", start_paused = true)]
pub(crate) async fn main() {
    let attempts = Cell::new(0);
    assert_eq!(complete(&attempts).await, Ok("hello"));
    assert_eq!(attempts.get(), 4);

    let attempts = Cell::new(0);
    assert_eq!(log_in(&attempts).await, Err(ModelError::Unauthorized));
    assert_eq!(attempts.get(), 1);

    let attempts = Cell::new(0);
    assert_eq!(in_parentheses(&attempts).await, Err(3));
    assert_eq!(attempts.get(), 3);

    let mut client = Client {
        left: 1,
        attempts: 0,
        events: Cell::new(0),
        name: String::from("model.complete"),
    };
    let start = tokio::time::Instant::now();
    assert_eq!(client.complete(true).await, Err(5));
    assert_eq!(start.elapsed(), Duration::from_millis(16));
    assert_eq!(client.events.get(), 4);

    assert_eq!(lazy().unwrap(), 1);
    assert_eq!(shared(Arc::new(Policy::none())).unwrap(), 2);
    assert_eq!(optional(None).unwrap(), 3);
}
