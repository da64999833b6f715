//! Waits for the limiter, with any timer.

use core::future::{Future, poll_fn};
use core::mem;
use core::pin::{Pin, pin};
use core::task::{Poll, Waker};
use core::time::Duration;

use retry_classify::RejectedBy;

use crate::admission::Admission;
use crate::call::held::Held;
use crate::call::protections::Protects;
use crate::time::clock::Clocks;
use crate::time::{BlockingTimer, Cancel, Moment, STEP, Timer, give_way, own_waker, sleep_out};

/// Waits until the limiter admits the attempt. Returns the time that this took. If it fails, the attempt was not
/// admitted.
pub(super) async fn wait(
    queue: &mut Queue<'_, impl Protects>,
    timer: impl Timer,
    deadline: Option<Moment>,
    mut cancelled: Pin<&mut impl Future>,
) -> Result<Duration, RejectedBy> {
    if queue.held.limiter.is_admitted() {
        return Ok(Duration::ZERO);
    }
    let began = timer.now();
    let patience = Patience::new(began, queue.longest_wait(), deadline);
    loop {
        let waker = own_waker().await;
        let clocks = Clocks::read(|| timer.now());
        let Some(nap) = patience.ask(queue, &waker, clocks.other)? else {
            return Ok(clocks.other.since(began));
        };
        drop(waker);
        let wakes = nap.end(clocks.own);
        let mut pause = pin!(async {
            match nap {
                Nap::UntilTurn(length) => timer.sleep(length).await,
                // A time limit, which tests don't skip.
                Nap::Patient(length) => sleep_out(&timer, length).await,
            }
            give_way().await;
        });
        // The loop has just asked. If the first poll asked again, an expected wait that keeps changing could prevent
        // the loop from ever sleeping.
        let mut has_asked = true;
        let waited = poll_fn(|context| {
            if cancelled.as_mut().poll(context).is_ready() {
                return Poll::Ready(Err(RejectedBy::Cancelled));
            }
            if !mem::take(&mut has_asked) {
                let now = timer.now();
                clocks.catch_up(now, nap.length());
                match patience.ask(queue, context.waker(), now) {
                    Ok(None) => return Poll::Ready(Ok(Some(now.since(began)))),
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
        clocks.catch_up(timer.now(), nap.length());
    }
}

/// Blocks this thread until the limiter admits the attempt.
pub(super) fn wait_blocking(
    queue: &mut Queue<'_, impl Protects>,
    timer: &dyn BlockingTimer,
    deadline: Option<Moment>,
    cancel: &dyn Cancel,
) -> Result<Duration, RejectedBy> {
    if queue.held.limiter.is_admitted() {
        return Ok(Duration::ZERO);
    }
    let began = timer.now();
    let patience = Patience::new(began, queue.longest_wait(), deadline);
    let waker = unpark::this_thread();
    loop {
        if cancel.is_cancelled() {
            return Err(RejectedBy::Cancelled);
        }
        let clocks = Clocks::read(|| timer.now());
        let Some(nap) = patience.ask(queue, &waker, clocks.other)? else {
            return Ok(clocks.other.since(began));
        };
        let length = match nap {
            Nap::UntilTurn(length) => Some(timer.to_sleep(length)),
            Nap::Patient(length) => length,
        };
        let step = (!cancel.is_never()).then_some(STEP);
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

    pub(super) fn this_thread() -> Waker {
        Waker::from(Arc::new(Unpark(thread::current())))
    }
}

/// Without a thread to park, nothing can be woken: the code asks again after each step of its timer.
#[cfg(not(feature = "std"))]
mod unpark {
    use core::task::Waker;

    pub(super) fn this_thread() -> Waker {
        Waker::noop().clone()
    }
}

/// The attempt in the limiter's queue.
pub(super) struct Queue<'q, P> {
    /// Mutable, so that the future is `Send` if `P` is.
    pub(super) protections: &'q mut P,
    pub(super) held: &'q mut Held,
}

impl<P: Protects> Queue<'_, P> {
    fn poll(&mut self, waker: &Waker) -> Admission {
        match self.protections.limiter() {
            Some(limiter) => self.held.limiter.poll(limiter, waker),
            None => Admission::Admitted,
        }
    }

    fn longest_wait(&self) -> Option<Duration> {
        self.protections.limiter()?.longest_wait()
    }
}

struct Patience {
    /// The end of the call's patience, and the rejection at that time.
    until: Option<(Moment, RejectedBy)>,
    /// After this, the attempt is not admitted any more.
    deadline: Option<Moment>,
}

/// The next step for a call that is waiting.
#[derive(Clone, Copy)]
enum Nap {
    /// The attempt won't be admitted before this time has passed.
    UntilTurn(Duration),
    /// Wait until woken, until patience ends, or until it is time to check that the attempts ahead are still there.
    Patient(Option<Duration>),
}

impl Patience {
    fn new(now: Moment, max_wait: Option<Duration>, deadline: Option<Moment>) -> Self {
        let most = max_wait.and_then(|most| now.checked_add(most));
        let most = most.map(|end| (end, RejectedBy::Limiter));
        let last = deadline.map(|end| (end, RejectedBy::Deadline));
        Self {
            until: most.into_iter().chain(last).min_by_key(|(end, _)| *end),
            deadline,
        }
    }

    /// Asks for admission. If there is none yet, returns the next step, or the rejection if the call can't wait long
    /// enough.
    fn ask(
        &self,
        queue: &mut Queue<'_, impl Protects>,
        waker: &Waker,
        now: Moment,
    ) -> Result<Option<Nap>, RejectedBy> {
        // The wait may have been longer than planned.
        if self.deadline.is_some_and(|end| now > end) {
            return Err(RejectedBy::Deadline);
        }
        let (ahead, at_least) = match queue.poll(waker) {
            Admission::Admitted => return Ok(None),
            Admission::Rejected => return Err(RejectedBy::Limiter),
            Admission::QueueFull => return Err(RejectedBy::Full),
            Admission::Wait { ahead, at_least } => (ahead, at_least),
        };
        let left = match self.until {
            Some((end, by)) => {
                let left = end.since(now);
                if left.is_zero()
                    || at_least.is_some_and(|at_least| at_least > left.max(Admission::SOON))
                {
                    return Err(by);
                }
                Some(left)
            }
            None => None,
        };
        Ok(Some(match at_least {
            Some(at_least) if left.is_none_or(|left| at_least <= left) => Nap::UntilTurn(at_least),
            Some(_) => Nap::Patient(left),
            None => Nap::Patient(left.into_iter().chain(look(ahead)).min()),
        }))
    }
}

/// The time until the next check for absent attempts ahead. It grows with the number of attempts ahead, so that only
/// few waiters check at once.
fn look(ahead: usize) -> Option<Duration> {
    const FEW: u32 = 30;
    let ahead = u32::try_from(ahead).unwrap_or(FEW).min(FEW);
    (ahead > 0).then(|| Admission::ABSENT * ahead)
}

impl Nap {
    fn length(self) -> Option<Duration> {
        match self {
            Self::UntilTurn(length) => Some(length),
            Self::Patient(length) => length,
        }
    }

    fn end(self, now: Moment) -> Option<Moment> {
        now.checked_add(self.length()?)
    }
}

fn is_earlier(end: Option<Moment>, than: Option<Moment>) -> bool {
    end.is_some_and(|end| than.is_none_or(|than| end < than))
}
