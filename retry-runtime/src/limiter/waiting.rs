//! Waiting for one's turn, with whichever timer.

use std::future::{Future, poll_fn};
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::task::{Poll, Wake, Waker};
use std::thread::{self, Thread};
use std::time::Duration;

use crate::call::rejected::RejectedBy;
use crate::limiter::Turn;
use crate::limiter::place::Queued;
use crate::limiter::queue::ABSENT;
use crate::time::blocking_timer::{BlockingTimer, STEP};
use crate::time::cancel::{Cancel, Pause};
use crate::time::moment::Moment;
use crate::time::timer::{Timer, sleep_out};
use crate::time::{clock, skip};

/// Waits until the attempt may begin. Returns how long that took.
pub(crate) async fn wait(
    place: &mut impl Queued,
    timer: impl Timer,
    deadline: Option<Moment>,
    mut cancelled: Pin<&mut impl Future>,
) -> Result<Duration, RejectedBy> {
    let began = timer.now();
    let patience = Patience::new(began, place.max_wait(), deadline);
    loop {
        let now = timer.now();
        let Some(nap) = patience.ask(place, Waker::noop(), now)? else {
            return Ok(now.since(began));
        };
        let wakes = nap.end(now);
        let sleep = pin!(sleep_out(&timer, nap.length()));
        let mut pause = Pause::new(sleep);
        poll_fn(|context| {
            if cancelled.as_mut().poll(context).is_ready() {
                return Poll::Ready(Err(RejectedBy::Cancelled));
            }
            let now = timer.now();
            let is_early = match patience.ask(place, context.waker(), now) {
                Ok(Some(nap)) => is_earlier(nap.end(now), wakes),
                Ok(None) => true,
                Err(by) => return Poll::Ready(Err(by)),
            };
            if is_early {
                return Poll::Ready(Ok(()));
            }
            match nap {
                Nap::UntilTurn(_) => pause.poll(context),
                // A limit of time is not skipped: it would end at once.
                Nap::Patient(_) => skip::unskipped(|| pause.poll(context)),
            }
            .map(Ok)
        })
        .await?;
    }
}

/// The same in blocking code.
pub(crate) fn wait_blocking(
    place: &mut impl Queued,
    timer: &dyn BlockingTimer,
    deadline: Option<Moment>,
    cancel: &dyn Cancel,
) -> Result<Duration, RejectedBy> {
    let began = timer.now();
    let patience = Patience::new(began, place.max_wait(), deadline);
    let waker = Waker::from(Arc::new(Unpark(thread::current())));
    loop {
        if cancel.is_cancelled() {
            return Err(RejectedBy::Cancelled);
        }
        let now = timer.now();
        let Some(nap) = patience.ask(place, &waker, now)? else {
            return Ok(now.since(began));
        };
        let length = match nap {
            Nap::UntilTurn(length) => Some(timer.to_sleep(length)),
            Nap::Patient(length) => length,
        };
        let step = (!cancel.is_never()).then_some(STEP);
        let at_most = length.into_iter().chain(step).min();
        clock::passing_by(|| timer.now(), || timer.park(at_most));
    }
}

struct Unpark(Thread);

impl Wake for Unpark {
    fn wake(self: Arc<Self>) {
        self.0.unpark();
    }
}

struct Patience {
    /// Until when a call waits, and what rejects it then.
    until: Option<(Moment, RejectedBy)>,
    /// After which it takes no turn, either.
    deadline: Option<Moment>,
}

/// What a call does that has to wait.
#[derive(Clone, Copy)]
enum Nap {
    /// Its turn comes no sooner.
    UntilTurn(Duration),
    /// It is woken, waits no longer, or looks whether those before it take their turns.
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

    /// Asks whether the turn has come. If not, says how to go on, or what rejects the call that can't wait so long.
    fn ask(
        &self,
        place: &mut impl Queued,
        waker: &Waker,
        now: Moment,
    ) -> Result<Option<Nap>, RejectedBy> {
        // A wait may have lasted longer than it was meant to.
        if self.deadline.is_some_and(|end| now > end) {
            return Err(RejectedBy::Deadline);
        }
        let (ahead, at_least) = match place.poll(waker) {
            Turn::Begin => return Ok(None),
            Turn::Rejected => return Err(RejectedBy::Limiter),
            Turn::Wait { ahead, at_least } => (ahead, at_least),
        };
        let left = match self.until {
            Some((end, by)) => {
                let left = end.since(now);
                if left.is_zero() || at_least.is_some_and(|at_least| at_least > left) {
                    return Err(by);
                }
                Some(left)
            }
            None => None,
        };
        Ok(Some(match at_least {
            Some(at_least) => Nap::UntilTurn(at_least),
            None => Nap::Patient(left.into_iter().chain(look(ahead)).min()),
        }))
    }
}

/// After how long it is worthwhile to look whether those before it are absent: the further behind, the later, so that few
/// of many look at a time.
fn look(ahead: usize) -> Option<Duration> {
    const FEW: u32 = 30;
    let ahead = u32::try_from(ahead).unwrap_or(FEW).min(FEW);
    (ahead > 0).then(|| ABSENT * ahead)
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
    match (end, than) {
        (Some(end), Some(than)) => end < than,
        (Some(_), None) => true,
        (None, _) => false,
    }
}
