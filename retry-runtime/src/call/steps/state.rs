use alloc::boxed::Box;
use alloc::string::String;
use alloc::vec::Vec;
use core::mem;
use core::time::Duration;

use retry_classify::RejectedBy;

use crate::call::steps::permits::HeldPermits;
use crate::call::{Call, Stop};
use crate::observe::{Reason, Stopwatch};
use crate::time::Moment;

/// The state that a call keeps between its steps.
#[derive(Default)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "each is set separately, by a different step or by the loop"
)]
pub(crate) struct State {
    /// Allocated when needed, because most calls never fail.
    pub(crate) past: Option<Box<Past>>,
    pub(crate) held: HeldPermits,
    pub(crate) next: Next,
    pub(crate) deadline: Option<Moment>,
    /// The policy's `max`, if it is reported before any failure.
    pub(crate) max: u32,
    pub(crate) cost: u32,
    /// True if the budget paid for the attempt that is about to start.
    pub(crate) is_paid: bool,
    /// True if the policy may retry rejections.
    pub(crate) retries_rejections: bool,
    /// True if the call was cancelled. Stored, because a future must not be polled after it has completed.
    pub(crate) is_cancelled: bool,
    /// True if the loop keeps the error or value, so that the call can end with it after its pause.
    pub(crate) can_stop: bool,
    /// True if the loop itself has to wait between the limiter's admission and the breaker.
    pub(crate) needs_ready: bool,
    /// True if the call is a batch, whose items enter the breaker separately.
    pub(crate) is_batch: bool,
}

#[derive(Default)]
pub(crate) struct Past {
    pub(crate) call: Call,
    /// The reason and the error of a call that continues with its fallback.
    pub(crate) cause: Option<(Reason, String)>,
    /// The number of attempts in a row whose stream broke soon after it was opened.
    pub(crate) early_breaks: u32,
    /// The number of pauses after rejections.
    pub(crate) rejections: u32,
    /// The times of the call's events.
    pub(crate) stopwatch: Stopwatch,
    /// The start of the call, if a policy that is chosen later may limit its time.
    pub(crate) began: Option<Moment>,
    /// The time at which a running attempt is dropped: the key `total_timeout`.
    pub(crate) total_end: Option<Moment>,
    /// The permits of the other concurrent attempts, by number. Those of the current attempt are in `held`.
    pub(crate) hedges: Vec<(u32, HeldPermits)>,
    /// The number of the attempt in `held` while others are in flight, otherwise 0.
    pub(crate) current: u32,
    /// The number of the attempt whose value the call returns, if several were in flight.
    pub(crate) winner: Option<u32>,
}

/// The next step of a call.
#[derive(Debug, Default)]
pub(crate) enum Next {
    /// Check the breaker, and enter the limiter's queue.
    #[default]
    Enter,
    /// Pause after a failure or a rejection, for the call's last delay.
    Pause,
    /// Wait for the limiter's admission.
    Turn,
    /// Report this wait in the queue, which is over.
    Waited(Duration),
    /// Let the loop itself wait. The limiter has admitted the attempt.
    Ready,
    /// Enter the breaker.
    Admit,
    /// Decide what follows this rejection.
    Rejected(RejectedBy),
    /// The attempt is running, so there is no next step.
    Begun,
    /// No attempt follows, for this reason.
    Stopped(Box<Stop>),
}

impl Next {
    /// The call ends because of this rejection.
    pub(crate) fn stopped_by(by: RejectedBy) -> Self {
        Self::Stopped(Box::new(Stop::from_rejection(by)))
    }
}

impl State {
    pub(crate) fn call(&self) -> Call {
        match &self.past {
            Some(past) => past.call,
            None => Call::new().with_max(self.max),
        }
    }

    /// Returns true if the policy's `max` is unknown, because neither a failure nor a setter has provided it.
    pub(crate) fn lacks_max(&self) -> bool {
        let call = self.call();
        !call.is_retried() && call.max_retries() == 0
    }

    pub(crate) fn past(&mut self) -> &mut Past {
        let max = self.max;
        self.past.get_or_insert_with(|| {
            Box::new(Past {
                call: Call::new().with_max(max),
                ..Past::default()
            })
        })
    }

    pub(crate) fn total_end(&self) -> Option<Moment> {
        self.past.as_ref()?.total_end
    }

    #[cold]
    pub(crate) fn take_stop(&mut self) -> Option<Stop> {
        match mem::take(&mut self.next) {
            Next::Stopped(stop) => Some(*stop),
            _ => None,
        }
    }

    #[inline]
    pub(crate) fn is_holding(&self) -> bool {
        let hedges = self.past.as_ref().map(|past| &past.hedges);
        self.is_paid || self.held.holds_any() || hedges.is_some_and(|hedges| !hedges.is_empty())
    }
}
