use alloc::boxed::Box;
use alloc::rc::Rc;
use alloc::sync::Arc;

use crate::forward::forward;
use crate::observe::Event;

/// Receives the events of calls: the key `observe`.
///
/// A closure is an observer too, and may borrow `self` and the arguments:
///
/// ```
/// use std::sync::atomic::{AtomicU32, Ordering};
/// use retry_runtime::{Event, EventData, Observer, retry};
///
/// #[derive(Default)]
/// struct RetryCount(AtomicU32);
///
/// impl Observer for RetryCount {
///     fn observe(&self, event: &Event<'_>) {
///         if let EventData::Retrying { .. } = event.data {
///             self.0.fetch_add(1, Ordering::Relaxed);
///         }
///     }
/// }
///
/// struct Client { retries: RetryCount }
///
/// impl Client {
///     #[retry(backoff = "none", observe = &self.retries, on = |_| true)]
///     async fn complete(&self) -> Result<String, String> {
///         Err(String::from("overloaded"))
///     }
///
///     #[retry(observe = |event| eprintln!("{event}"), on = |_| true)]
///     async fn models(&self) -> Result<String, String> {
///         Ok(String::from("one"))
///     }
/// }
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() {
/// let client = Client { retries: RetryCount::default() };
/// client.complete().await.unwrap_err();
/// assert_eq!(client.retries.0.into_inner(), 3);
/// # }
/// ```
///
/// An observer runs on the task that makes the call, and delays the call, so do slow work on another task.
#[diagnostic::on_unimplemented(
    message = "`{Self}` can't observe calls",
    label = "not an `Observer`",
    note = "pass a type that implements `retry_runtime::Observer`, or a closure `|event| …`"
)]
pub trait Observer {
    /// Called for every event of a call, in order.
    fn observe(&self, event: &Event<'_>);
}

forward! {
    Observer {
        fn observe(&self, event: &Event<'_>) => ();
    }
    for &T, Box<T>, Rc<T>, Arc<T>;
    Option<T>: "`None` observes nothing."
}

/// Calls both observers, the first one first.
impl<A: Observer, B: Observer> Observer for (A, B) {
    fn observe(&self, event: &Event<'_>) {
        self.0.observe(event);
        self.1.observe(event);
    }
}
