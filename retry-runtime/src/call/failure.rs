use core::fmt;
use core::time::Duration;

use retry_classify::Verdict;

use crate::budget::retry_budget::RetryBudget;
use crate::hedge::pushback::Pushback;
use crate::observe::{Observe, reborrow};
use crate::policy::Values;
use crate::site::Site;
use crate::time::Moment;

/// A failed attempt, with the loop's settings and state: the argument of
/// [`Call::failed_with`](crate::own_loop::Call::failed_with).
///
/// ```
/// use std::time::Duration;
/// use retry_runtime::own_loop::{Call, Failure, Site};
/// use retry_runtime::{Policy, Reason, Verdict};
///
/// const POLICY: Policy = Policy::new().deadline(Duration::from_secs(60));
/// let site = Site::new(&POLICY, "orders.charge");
/// let mut call = Call::new();
/// let failure = Failure::new(&site, Verdict::TIMEOUT, &"no answer")
///     .elapsed(Duration::from_secs(3))
///     .idempotent(false);
/// assert_eq!(call.failed_with(failure), Err(Reason::Ambiguous));
/// ```
pub struct Failure<'a> {
    pub(crate) site: &'a Site<'a>,
    pub(super) verdict: Verdict,
    pub(super) error: &'a dyn fmt::Display,
    pub(super) inputs: Inputs,
    /// The number of retries that are paid for or free.
    pub(crate) paid: usize,
    /// Computes the delay before each retry from its number (1, 2, …), in place of the policy's backoff.
    pub(super) delays: Option<&'a mut dyn FnMut(u32) -> Duration>,
    pub(super) budget: Option<&'a dyn RetryBudget>,
    pub(super) observe: Option<Observe<'a>>,
}

/// The inputs to a decision, apart from the verdict and the policy.
#[derive(Clone, Copy, Default)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "each is set separately, by a different part of the loop"
)]
pub(super) struct Inputs {
    pub(super) elapsed: Option<Duration>,
    pub(super) deadline: Deadline,
    pub(super) idempotent: bool,
    pub(super) repeated: bool,
    pub(super) unrepeatable: bool,
    pub(super) cancelled: bool,
    pub(super) last: bool,
    /// The time left until the call's `total_timeout`.
    pub(super) total_left: Option<Duration>,
    /// True if the loop keeps the error during the pause, so that the call can still end with it.
    pub(super) is_kept: bool,
    /// True if the attempt had a limiter that handles throttled retries.
    pub(super) is_limited: bool,
    /// The number of failures that the budget counts: in a batch, several items can fail in the same way.
    pub(super) items: usize,
    /// The number of these failures whose previous retry was paid for.
    pub(super) paid_before: usize,
    /// The longest wait that a server asked for in concurrent attempts. It lengthens the call's pause; breakers and
    /// limiters receive each attempt's own hint.
    pub(super) other_hint: Option<Duration>,
    pub(super) values: Values,
    pub(super) ending: Ending,
}

/// The error text for a value that `until` rejected.
pub const REJECTED_VALUE: &str = "value rejected";

/// The deadline of the call.
#[derive(Clone, Copy, Default)]
pub(super) enum Deadline {
    /// The policy's deadline, compared with the time spent.
    #[default]
    FromPolicy,
    Never,
    /// A point in time, compared with the current time.
    At {
        end: Moment,
        now: Moment,
    },
}

/// The way a call ends if no attempt follows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Ending {
    /// The call ends with the error.
    #[default]
    Error,
    /// The call ends with the error that `give_up` returns.
    GiveUp,
    /// A fallback is called.
    Fallback,
}

impl<'a> Failure<'a> {
    /// Creates a failure at this site. The log shows `error`.
    pub fn new(site: &'a Site<'a>, verdict: Verdict, error: &'a dyn fmt::Display) -> Self {
        Self {
            site,
            verdict,
            error,
            inputs: Inputs {
                idempotent: true,
                is_kept: true,
                items: 1,
                paid_before: 1,
                ..Inputs::default()
            },
            paid: 0,
            delays: None,
            budget: None,
            observe: None,
        }
    }

    /// Sets the time since the call started, which the policy's `deadline` limits. If you don't set it, only the pauses
    /// count.
    ///
    /// For a [`Call`](crate::own_loop::Call) that was saved by another process, pass the time since it was loaded: the
    /// call itself contains the time spent before.
    pub fn elapsed(mut self, elapsed: Duration) -> Self {
        self.inputs.elapsed = Some(elapsed);
        self
    }

    /// Sets the time at which the call must end, and a function that reads the current time on the same clock. The time
    /// replaces the policy's `deadline`; `None` means no deadline.
    pub fn deadline(mut self, end: Option<Moment>, now: impl FnOnce() -> Moment) -> Self {
        self.inputs.deadline = match end {
            Some(end) => Deadline::At { end, now: now() },
            None => Deadline::Never,
        };
        self
    }

    /// Allows or forbids retries of ambiguous failures. Default true.
    pub fn idempotent(mut self, idempotent: bool) -> Self {
        self.inputs.idempotent = idempotent;
        self
    }

    /// Set to true if the same error occurred too many times in a row: the call then ends. Default false.
    pub fn repeated(mut self, repeated: bool) -> Self {
        self.inputs.repeated = repeated;
        self
    }

    /// Set to true if the attempt can't be made again, for example because its request was consumed. Default false.
    ///
    /// If a retry would follow, the call ends with [`Reason::Unrepeatable`](crate::Reason::Unrepeatable) instead.
    /// Breakers, limiters and budgets count the failure like any other.
    pub fn unrepeatable(mut self, unrepeatable: bool) -> Self {
        self.inputs.unrepeatable = unrepeatable;
        self
    }

    /// Set to true if the call was cancelled, so that no attempt may follow. Default false.
    pub fn cancelled(mut self, cancelled: bool) -> Self {
        self.inputs.cancelled = cancelled;
        self
    }

    /// Sets the number of similar failures that the budget counts, and the number of these whose previous retry was
    /// paid for. Each failure needs its own retry.
    pub(crate) fn items(mut self, items: usize, paid_before: usize) -> Self {
        (self.inputs.items, self.inputs.paid_before) = (items, paid_before);
        self
    }

    /// Set to true if the attempt was started as the last possible one, and so consumed data that another attempt would
    /// need.
    #[doc(hidden)]
    pub fn last(mut self, last: bool) -> Self {
        self.inputs.last = last;
        self
    }

    /// Computes the delay before each retry from its number (1, 2, …), in place of the policy's `backoff`. Jitter,
    /// `floor` and an explicit `cap` still apply.
    ///
    /// If delays keep growing after [`Call::restarted`](crate::own_loop::Call::restarted), the numbers continue as
    /// well, and may exceed the policy's `max`.
    pub fn delays(mut self, delays: &'a mut dyn FnMut(u32) -> Duration) -> Self {
        self.delays = Some(delays);
        self
    }

    /// Sets the budget that pays for the retry. It is charged last. If the retry never starts, the loop must refund the
    /// budget.
    pub fn budget(mut self, budget: &'a dyn RetryBudget) -> Self {
        self.budget = Some(budget);
        self
    }

    /// Set to true if the attempt had a limiter that handles throttled retries.
    pub(crate) fn limited(mut self, is_limited: bool) -> Self {
        self.inputs.is_limited = is_limited;
        self
    }

    /// Adds the pushback of concurrent attempts: the call pauses for the longest wait that a server asked for in any of
    /// them.
    #[doc(hidden)]
    pub fn pushback(mut self, pushback: &mut Pushback) -> Self {
        pushback.note(self.verdict);
        self.inputs.other_hint = pushback.take_hint();
        self
    }

    /// Marks that this call validates values, so that invalid values have their own count.
    pub fn validates(mut self) -> Self {
        self.inputs.values = Values::Validated;
        self
    }

    /// Marks that this call validates values, and that the returned value is corrected instead of making another
    /// attempt.
    pub fn correctable(mut self) -> Self {
        self.inputs.values = Values::Corrected;
        self
    }

    /// Sets the way the call ends if no attempt follows.
    #[doc(hidden)]
    pub fn ends_with(mut self, ending: Ending) -> Self {
        self.inputs.ending = ending;
        self
    }

    /// Sends events to this observer, in addition to the log.
    pub fn observe(mut self, observe: Observe<'a>) -> Self {
        self.observe = Some(observe);
        self
    }

    /// Marks that the loop keeps no error during the pause, so the error need not be `Send`. The call then can't end
    /// during the pause.
    #[doc(hidden)]
    pub fn forgotten(mut self) -> Self {
        self.inputs.is_kept = false;
        self
    }

    /// Reborrows the failure.
    pub(crate) fn reborrow(&mut self) -> Failure<'_> {
        Failure {
            site: self.site,
            verdict: self.verdict,
            error: self.error,
            inputs: self.inputs,
            paid: self.paid,
            delays: match &mut self.delays {
                Some(delays) => Some(&mut **delays),
                None => None,
            },
            budget: self.budget,
            observe: reborrow(&mut self.observe),
        }
    }

    pub(crate) fn with_budget(self, budget: Option<&'a dyn RetryBudget>) -> Self {
        Self { budget, ..self }
    }

    pub(crate) fn with_observer(self, observe: Option<Observe<'a>>) -> Self {
        Self {
            observe: observe.or(self.observe),
            ..self
        }
    }
}

impl fmt::Debug for Failure<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Failure")
            .field("verdict", &self.verdict)
            .finish_non_exhaustive()
    }
}
