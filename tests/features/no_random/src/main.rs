//! A system without a random number generator: without `std`, the runtime has none either.

use std::cell::{Cell, RefCell};
use std::panic;
use std::time::Duration;

use retry_runtime::seam::{BlockingTimer, Moment};
use retry_runtime::{GaveUp, Policy, on, retry};

/// Time that passes only while somebody sleeps.
#[derive(Default)]
struct Ticks {
    now: Cell<Duration>,
    slept: RefCell<Vec<Duration>>,
}

impl BlockingTimer for Ticks {
    fn sleep(&self, duration: Duration) {
        self.now.set(self.now.get() + duration);
        self.slept.borrow_mut().push(duration);
    }

    fn now(&self) -> Moment {
        Moment::from_origin(self.now.get())
    }
}

#[retry(max = 9, backoff = "fixed", base = "1s", timer = ticks, on = |_| true)]
fn read(ticks: &Ticks) -> Result<(), &'static str> {
    let _ = ticks;
    Err("busy")
}

#[retry(attempt = attempt, timer = ticks, on = |_| true)]
fn write(ticks: &Ticks) -> Result<(), &'static str> {
    let _ = (ticks, attempt.call_id());
    Err("busy")
}

fn main() {
    let ticks = Ticks::default();
    assert_eq!(read(&ticks), Err("busy"));
    let mut pauses = ticks.slept.take();
    assert!(
        pauses.iter().all(|pause| *pause <= Duration::from_secs(1)),
        "{pauses:?}"
    );
    pauses.sort();
    pauses.dedup();
    assert_eq!(pauses.len(), 9, "{pauses:?}");

    // The errors of a call are moved to its end, and none is lost for want of an id.
    let ended = Policy::fixed(Duration::from_secs(1))
        .max(2)
        .timer(&ticks)
        .on(on::any)
        .fallback(|gave_up: GaveUp<_>| Err::<(), _>(gave_up.into_errors().concat()))
        .call_attempt_blocking(|attempt| Err(attempt.number().to_string()));
    assert_eq!(ended, Err(String::from("123")));

    let refused = panic::catch_unwind(|| write(&Ticks::default())).unwrap_err();
    let message = refused.downcast::<String>().unwrap();
    assert!(
        message.contains("a call id needs random numbers"),
        "{message}"
    );
}
