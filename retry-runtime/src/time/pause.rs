//! Waits for one of several futures.

use core::future::poll_fn;
use core::pin::{Pin, pin};
use core::task::{Poll, Waker};

use crate::time::yield_now;

/// Sleeps until `sleep` completes (false) or `cancelled` does (true). If both are complete, the pause counts as
/// cancelled. After the sleep, yields to the executor, so that other tasks run even if the sleep takes no time.
pub(crate) async fn pause_or_cancelled(
    mut cancelled: Pin<&mut impl Future>,
    sleep: Pin<&mut impl Future>,
) -> bool {
    let mut pause = pin!(async {
        sleep.await;
        yield_now().await;
    });
    poll_fn(|context| {
        if cancelled.as_mut().poll(context).is_ready() {
            return Poll::Ready(true);
        }
        pause.as_mut().poll(context).map(|()| false)
    })
    .await
}

/// The current task's waker. Embassy's timers reject any other.
pub(crate) fn task_waker() -> impl Future<Output = Waker> {
    poll_fn(|context| Poll::Ready(context.waker().clone()))
}

/// The body's output, or `None` if the sleep (a timeout) ends first.
pub(crate) fn race<F: Future>(
    mut body: Pin<&mut F>,
    mut sleep: Pin<&mut impl Future<Output = ()>>,
) -> impl Future<Output = Option<F::Output>> {
    poll_fn(move |context| {
        if let Poll::Ready(output) = body.as_mut().poll(context) {
            return Poll::Ready(Some(output));
        }
        sleep.as_mut().poll(context).map(|()| None)
    })
}
