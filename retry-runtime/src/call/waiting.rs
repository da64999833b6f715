//! Waits for the limiter, with any timer.

use core::future::poll_fn;
use core::mem;
use core::pin::{Pin, pin};
use core::task::{Poll, Waker};
use core::time::Duration;

use retry_classify::RejectedBy;

use crate::admission::{Admission, AdmissionControl};
use crate::call::Protects;
use crate::call::steps::Slot;
use crate::time::moment::Clocks;
use crate::time::{BlockingTimer, Cancel, Moment, TICK, Timer, sleep_out, task_waker, yield_now};

/// Waits until the limiter admits the attempt. Returns the duration of the wait, or the rejection.
pub(super) async fn wait(
    queue: &mut Queue<'_, impl Protects>,
    timer: impl Timer,
    mut cancelled: Pin<&mut impl Future>,
) -> Result<Duration, RejectedBy> {
    loop {
        let waker = task_waker().await;
        let clocks = Clocks::read(|| timer.now());
        let Some(nap) = queue.poll_admission(&waker, clocks.other)? else {
            return Ok(clocks.other.since(queue.began));
        };
        drop(waker);
        let wakes = nap.end(clocks.own);
        let mut pause = pin!(async {
            match nap.length.filter(|_| nap.is_until_turn) {
                Some(length) => timer.sleep(length).await,
                // Not skipped in tests, because this wait ends at a time limit or at a check of the queue, not at the
                // attempt's turn.
                None => sleep_out(&timer, nap.length).await,
            }
            yield_now().await;
        });
        // The loop has just polled the limiter, so the first poll of this future doesn't poll it again. Otherwise, an
        // expected wait that keeps changing could prevent the loop from ever sleeping.
        let mut has_polled = true;
        let waited = poll_fn(|context| {
            if cancelled.as_mut().poll(context).is_ready() {
                return Poll::Ready(Err(RejectedBy::Cancelled));
            }
            if !mem::take(&mut has_polled) {
                let now = timer.now();
                clocks.catch_up(now, nap.length);
                match queue.poll_admission(context.waker(), now) {
                    Ok(None) => return Poll::Ready(Ok(Some(now.since(queue.began)))),
                    Ok(Some(nap)) if is_earlier(nap.end(Clocks::read(|| now).own), wakes) => {
                        return Poll::Ready(Ok(None));
                    }
                    Ok(Some(_)) => {}
                    Err(by) => return Poll::Ready(Err(by)),
                }
            }
            pause.as_mut().poll(context).map(|()| Ok(None))
        })
        .await?;
        if let Some(waited) = waited {
            return Ok(waited);
        }
        // The clock may have advanced in the poll that ended the pause.
        clocks.catch_up(timer.now(), nap.length);
    }
}

/// Blocks this thread until the limiter admits the attempt.
pub(super) fn wait_blocking(
    queue: &mut Queue<'_, impl Protects>,
    timer: &dyn BlockingTimer,
    cancel: &dyn Cancel,
) -> Result<Duration, RejectedBy> {
    let waker = unpark::thread_waker();
    loop {
        if cancel.is_cancelled() {
            return Err(RejectedBy::Cancelled);
        }
        let clocks = Clocks::read(|| timer.now());
        let Some(nap) = queue.poll_admission(&waker, clocks.other)? else {
            return Ok(clocks.other.since(queue.began));
        };
        let length = if nap.is_until_turn {
            nap.length.map(|length| timer.to_sleep(length))
        } else {
            nap.length
        };
        let step = (!cancel.is_never()).then_some(TICK);
        let at_most = length.into_iter().chain(step).min();
        timer.park(at_most);
        clocks.catch_up(timer.now(), at_most);
    }
}

#[cfg(feature = "std")]
mod unpark {
    use alloc::sync::Arc;
    use alloc::task::Wake;
    use core::task::Waker;
    use std::thread::{self, Thread};

    struct Unpark(Thread);

    impl Wake for Unpark {
        fn wake(self: Arc<Self>) {
            self.0.unpark();
        }
    }

    pub(super) fn thread_waker() -> Waker {
        Waker::from(Arc::new(Unpark(thread::current())))
    }
}

/// Without threads, there is nothing to wake: the loop polls again after each step of its timer.
#[cfg(not(feature = "std"))]
mod unpark {
    use core::task::Waker;

    pub(super) fn thread_waker() -> Waker {
        Waker::noop().clone()
    }
}

/// The attempt in the limiter's queue.
pub(super) struct Queue<'q, P> {
    /// Mutable, so that the future is `Send` if `P` is.
    protections: &'q mut P,
    slot: &'q mut Slot,
    /// The time after which the attempt is no longer admitted.
    deadline: Option<Moment>,
    began: Moment,
    /// The latest end of the wait, and the rejection at that time.
    until: Option<(Moment, RejectedBy)>,
}

/// A wait until the next poll.
#[derive(Clone, Copy)]
struct Nap {
    /// The length. `None`: the wait lasts until woken.
    length: Option<Duration>,
    /// True if the wait ends when the attempt may be admitted. False if it ends at a time limit, or at a check of the
    /// attempts ahead.
    is_until_turn: bool,
}

impl<'q, P: Protects> Queue<'q, P> {
    /// The wait starts now, at `began`.
    pub(super) fn new(
        protections: &'q mut P,
        slot: &'q mut Slot,
        deadline: Option<Moment>,
        began: Moment,
    ) -> Self {
        let limiter = protections.refs().limiter;
        let most = limiter.and_then(AdmissionControl::longest_wait);
        let most = most.and_then(|most| Some((began.checked_add(most)?, RejectedBy::Limiter)));
        let last = deadline.map(|end| (end, RejectedBy::Deadline));
        Self {
            until: most.into_iter().chain(last).min_by_key(|(end, _)| *end),
            protections,
            slot,
            deadline,
            began,
        }
    }

    /// Polls for admission. Returns `None` if the attempt is admitted, or else the wait until the next poll. Fails if
    /// the call can't wait long enough.
    fn poll_admission(&mut self, waker: &Waker, now: Moment) -> Result<Option<Nap>, RejectedBy> {
        // The last wait may have been longer than planned.
        if self.deadline.is_some_and(|end| now > end) {
            return Err(RejectedBy::Deadline);
        }
        let limiter = self.protections.refs().limiter;
        let admission = limiter.map(|limiter| self.slot.poll(limiter, waker));
        let (ahead, at_least) = match admission {
            Some(Admission::Wait { ahead, at_least }) => (ahead, at_least),
            Some(Admission::Admitted) | None => return Ok(None),
            Some(Admission::Rejected) => return Err(RejectedBy::Limiter),
            Some(Admission::QueueFull) => return Err(RejectedBy::Full),
        };
        let left = self.until.map(|(end, by)| (end.since(now), by));
        if let Some((left, by)) = left {
            let most = left.max(Admission::SOON);
            if left.is_zero() || at_least.is_some_and(|at_least| at_least > most) {
                return Err(by);
            }
        }
        let left = left.map(|(left, _)| left);
        let is_until_turn =
            at_least.is_some_and(|at_least| left.is_none_or(|left| at_least <= left));
        let length = match at_least {
            Some(_) if is_until_turn => at_least,
            Some(_) => left,
            None => left.into_iter().chain(recheck_delay(ahead)).min(),
        };
        Ok(Some(Nap {
            length,
            is_until_turn,
        }))
    }
}

/// The time until the next check for attempts ahead that are no longer polled. It is longer with more attempts ahead,
/// so that few waiters check at the same time.
fn recheck_delay(ahead: usize) -> Option<Duration> {
    const FEW: u32 = 30;
    let ahead = u32::try_from(ahead).unwrap_or(FEW).min(FEW);
    (ahead > 0).then(|| Admission::ABSENT * ahead)
}

impl Nap {
    fn end(self, now: Moment) -> Option<Moment> {
        now.checked_add(self.length?)
    }
}

fn is_earlier(end: Option<Moment>, than: Option<Moment>) -> bool {
    end.is_some_and(|end| than.is_none_or(|than| end < than))
}
