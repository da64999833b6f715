//! Pauses that let the executor run other tasks, even if they are short.

use core::future::{Future, poll_fn};
use core::pin::Pin;
use core::task::{Context, Poll, Waker};

use crate::time::enabled::{GiveWay, give_way};
use crate::time::skip;

/// A sleep that yields to the executor if it is over at once.
pub(crate) struct Pause<'a, S> {
    sleep: Pin<&'a mut S>,
    state: PauseState,
}

enum PauseState {
    Begins,
    Sleeps,
    GivesWay(GiveWay),
}

impl<'a, S: Future> Pause<'a, S> {
    pub(crate) fn new(sleep: Pin<&'a mut S>) -> Self {
        Self {
            sleep,
            state: PauseState::Begins,
        }
    }

    pub(crate) fn poll(&mut self, context: &mut Context<'_>) -> Poll<()> {
        match &mut self.state {
            PauseState::Begins => {
                self.state = if self.sleep.as_mut().poll(context).is_pending() {
                    PauseState::Sleeps
                } else {
                    let mut gives_way = give_way();
                    // Outside of pages, it wakes the task; in a page, it starts the page's timer.
                    let _pending = Pin::new(&mut gives_way).poll(context);
                    PauseState::GivesWay(gives_way)
                };
                Poll::Pending
            }
            PauseState::Sleeps => self.sleep.as_mut().poll(context).map(drop),
            PauseState::GivesWay(gives_way) => Pin::new(gives_way).poll(context),
        }
    }
}

/// Sleeps until `sleep` completes (false) or `cancelled` does (true). If both are complete, it counts as cancelled. A
/// sleep that completes at once still yields to the executor.
pub(crate) fn pause_or_cancelled(
    mut cancelled: Pin<&mut impl Future>,
    sleep: Pin<&mut impl Future>,
) -> impl Future<Output = bool> {
    let mut pause = Pause::new(sleep);
    poll_fn(move |context| {
        if cancelled.as_mut().poll(context).is_ready() {
            return Poll::Ready(true);
        }
        pause.poll(context).map(|()| false)
    })
}

/// Returns the current task's waker. Embassy's timers reject any other.
#[derive(Debug)]
pub(crate) struct OwnWaker;

impl Future for OwnWaker {
    type Output = Waker;

    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Waker> {
        Poll::Ready(context.waker().clone())
    }
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
        let slept = skip::unskipped(|| sleep.as_mut().poll(context));
        slept.map(|()| None)
    })
}
