//! Keys' values that read `self` and the arguments at each failure, even if the body mutates them.

use std::cell::Cell;
use std::time::Duration;

use retry_runtime::{Backoff, EventData, Jitter, retry};

struct Client {
    left: u32,
    attempts: u32,
    events: Cell<u32>,
    name: String,
}

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

#[tokio::main(flavor = "current_thread", start_paused = true)]
pub(crate) async fn main() {
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
}
