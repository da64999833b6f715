use core::fmt;
use core::time::Duration;

use crate::budget::retry_budget::RetryBudget;
use crate::call::decide::computed_range;
use crate::call::site::Site;
use crate::classify::kind::Kind;
use crate::classify::rejected::Rejected;
use crate::classify::verdict::Verdict;
use crate::hedge::pushback::Pushback;
use crate::observe::report::{Observe, reborrow};
use crate::policy::Policy;
use crate::policy::values::Values;
use crate::time::moment::Moment;

/// A failed attempt, and what a loop knows about it: the argument of [`Call::failed_with`](crate::Call::failed_with).
///
/// ```
/// use std::time::Duration;
/// use retry_runtime::{Call, Failure, Policy, Reason, Site, Verdict};
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
    pub(super) site: &'a Site<'a>,
    pub(super) verdict: Verdict,
    pub(super) error: &'a dyn fmt::Display,
    pub(super) inputs: Inputs,
    /// How many of as many retries were paid, or are free.
    pub(crate) paid: usize,
    /// With what makes a range of a delay: a program that computes none has no code for it. So for what follows.
    pub(super) delays: Option<(Delays<'a>, ComputedRange)>,
    pub(super) budget: Option<&'a dyn RetryBudget>,
    pub(super) observe: Option<Observe<'a>>,
}

/// What a decision depends on, other than the verdict and the policy.
#[derive(Clone, Copy)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "each is set by itself, by the part of a loop that knows it"
)]
pub(super) struct Inputs {
    pub(super) elapsed: Option<Duration>,
    pub(super) deadline: Deadline,
    pub(super) idempotent: bool,
    pub(super) repeated: bool,
    pub(super) unrepeatable: bool,
    pub(super) cancelled: bool,
    pub(super) last: bool,
    /// True if the loop keeps the error over the pause, so that the call can end with it then.
    pub(super) is_kept: bool,
    /// True if the attempt had a limiter, which takes care of throttled retries.
    pub(super) is_limited: bool,
    /// The number of failures that the budget counts: in a batch, items fail alike.
    pub(super) times: usize,
    /// The number of these whose last retry was paid.
    pub(super) followed: usize,
    /// The longest wait that servers asked for in the attempts that ran at the same time. It lengthens the call's pause;
    /// breakers and limiters count each attempt by itself.
    pub(super) other_hint: Option<Duration>,
    pub(super) values: Values,
    pub(super) ending: Ending,
}

impl Inputs {
    const fn new() -> Self {
        Self {
            elapsed: None,
            deadline: Deadline::OfPolicy,
            idempotent: true,
            repeated: false,
            unrepeatable: false,
            cancelled: false,
            last: false,
            is_kept: true,
            is_limited: false,
            times: 1,
            followed: 1,
            other_hint: None,
            values: Values::Taken,
            ending: Ending::Error,
        }
    }
}

/// What is shown of a value that `until` rejected, which has no error.
pub const REJECTED_VALUE: &str = "value rejected";

/// The delay of each retry, from 1, in place of the policy's own shape.
pub(super) type Delays<'a> = &'a mut dyn FnMut(u32) -> Duration;

pub(super) type ComputedRange = fn(
    &Policy,
    (Kind, Values),
    &mut dyn FnMut() -> Duration,
    Duration,
) -> Option<(Duration, Duration)>;

/// When the call must end.
#[derive(Clone, Copy)]
pub(super) enum Deadline {
    /// The policy says it, by the time spent.
    OfPolicy,
    Never,
    /// Then, by a clock that says what time it is now.
    At {
        end: Moment,
        now: Moment,
    },
}

/// What follows where no attempt does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ending {
    /// The call ends with the error.
    Error,
    /// A last resort is called.
    Fallback,
}

impl<'a> Failure<'a> {
    /// A failure at that site. The error is what the log shows.
    pub fn new(site: &'a Site<'a>, verdict: Verdict, error: &'a dyn fmt::Display) -> Self {
        Self {
            site,
            verdict,
            error,
            inputs: Inputs::new(),
            paid: 0,
            delays: None,
            budget: None,
            observe: None,
        }
    }

    /// A rejected attempt, and how long the breaker stays open, if it knows.
    #[doc(hidden)]
    pub fn of_rejection(
        site: &'a Site<'a>,
        rejected: &'a Rejected,
        half_open_in: Option<Duration>,
    ) -> Self {
        let verdict = Verdict::retry(Kind::Rejected);
        let verdict = half_open_in.map_or(verdict, |wait| verdict.after(wait));
        Self::new(site, verdict, rejected)
    }

    /// The time since the call began, which the policy's `deadline` limits. If you don't set it, only the pauses count.
    ///
    /// For a [`Call`](crate::Call) that another process saved, it is the time since loading: the call itself holds the
    /// time spent before.
    pub fn elapsed(mut self, elapsed: Duration) -> Self {
        self.inputs.elapsed = Some(elapsed);
        self
    }

    /// When the call must end, and what the same clock says now. It replaces the policy's `deadline`; `None` means no
    /// deadline.
    pub fn deadline(mut self, end: Option<Moment>, now: impl FnOnce() -> Moment) -> Self {
        self.inputs.deadline = match end {
            Some(end) => Deadline::At { end, now: now() },
            None => Deadline::Never,
        };
        self
    }

    /// Whether an ambiguous failure may be retried. Default true.
    pub fn idempotent(mut self, idempotent: bool) -> Self {
        self.inputs.idempotent = idempotent;
        self
    }

    /// Whether the same error came too many times in a row.
    pub fn repeated(mut self, repeated: bool) -> Self {
        self.inputs.repeated = repeated;
        self
    }

    /// Whether the attempt can't be made again, such as where its request was consumed. Default false.
    ///
    /// If a retry would follow, the call ends with [`Reason::Unrepeatable`](crate::Reason::Unrepeatable) instead.
    /// Breakers, limiters and budgets are told of the failure as of any other.
    pub fn unrepeatable(mut self, unrepeatable: bool) -> Self {
        self.inputs.unrepeatable = unrepeatable;
        self
    }

    /// Whether the call was cancelled, so that no attempt may follow.
    pub fn cancelled(mut self, cancelled: bool) -> Self {
        self.inputs.cancelled = cancelled;
        self
    }

    /// How many failures that are alike the budget hears of, and for how many the last retry was paid. Each needs a
    /// retry of its own.
    #[cfg(feature = "batch")]
    pub(crate) fn times(mut self, times: usize, followed: usize) -> Self {
        (self.inputs.times, self.inputs.followed) = (times, followed);
        self
    }

    /// Whether the attempt was begun as the last that could happen, and so took what another would need.
    #[doc(hidden)]
    pub fn last(mut self, last: bool) -> Self {
        self.inputs.last = last;
        self
    }

    /// Computes the delay of each retry from its number (1, 2, …), in place of the policy's `backoff`. Jitter, `floor`
    /// and a `cap` that was set apply to it.
    ///
    /// Where the delays go on growing after [`Call::restarted`](crate::Call::restarted), so does the number: it may be above
    /// the policy's `max`.
    pub fn delays(mut self, delays: &'a mut dyn FnMut(u32) -> Duration) -> Self {
        self.delays = Some((delays, computed_range));
        self
    }

    /// What pays for the retry. It is asked last. If the retry never begins, the loop must give the token back.
    pub fn budget(mut self, budget: &'a dyn RetryBudget) -> Self {
        self.budget = Some(budget);
        self
    }

    /// Whether the attempt had a limiter, which takes care of throttled retries.
    pub(crate) fn limited(mut self, is_limited: bool) -> Self {
        self.inputs.is_limited = is_limited;
        self
    }

    /// The last of attempts that ran at once: the call pauses as long as a server asked for in any of them.
    #[doc(hidden)]
    pub fn pushback(mut self, pushback: &mut Pushback) -> Self {
        pushback.note(self.verdict);
        self.inputs.other_hint = pushback.take_hint();
        self
    }

    /// Says that this call validates values, so that invalid ones have their own count.
    pub fn validates(mut self) -> Self {
        self.inputs.values = Values::Validated;
        self
    }

    /// Says that this call validates values, and that a correction of the returned value follows instead of another attempt.
    pub fn correctable(mut self) -> Self {
        self.inputs.values = Values::Corrected;
        self
    }

    /// A last resort is called where no attempt follows.
    #[doc(hidden)]
    pub fn falls_back(self) -> Self {
        self.ends_with(Ending::Fallback)
    }

    pub(crate) fn ends_with(mut self, ending: Ending) -> Self {
        self.inputs.ending = ending;
        self
    }

    /// Tells this observer, too, besides the log.
    pub fn observe(mut self, observe: Observe<'a>) -> Self {
        self.observe = Some(observe);
        self
    }

    /// The loop keeps no error over the pause, so that it need not be `Send`: the call does not end then.
    #[doc(hidden)]
    pub fn forgotten(mut self) -> Self {
        self.inputs.is_kept = false;
        self
    }

    /// The same failure, for a shorter time.
    pub(crate) fn lend(&mut self) -> Failure<'_> {
        Failure {
            site: self.site,
            verdict: self.verdict,
            error: self.error,
            inputs: self.inputs,
            paid: self.paid,
            delays: match &mut self.delays {
                Some((delays, range)) => Some((&mut **delays, *range)),
                None => None,
            },
            budget: self.budget,
            observe: reborrow(&mut self.observe),
        }
    }

    pub(crate) fn paid_by(self, budget: Option<&'a dyn RetryBudget>) -> Self {
        Self { budget, ..self }
    }

    pub(crate) fn observed_by(self, observe: Option<Observe<'a>>) -> Self {
        Self {
            observe: observe.or(self.observe),
            ..self
        }
    }

    /// The budget, where it pays for a retry after that kind of failure.
    pub(super) fn payer(&self, kind: Kind) -> Option<&'a dyn RetryBudget> {
        self.budget.filter(|_| self.is_paid(kind))
    }

    pub(super) fn is_paid(&self, kind: Kind) -> bool {
        is_paid(kind, self.inputs.is_limited)
    }

    /// The wait that a server asked this call for.
    pub(super) fn hint(&self) -> Option<Duration> {
        self.verdict.hint().max(self.inputs.other_hint)
    }
}

/// Whether a budget pays for retries after that kind of failure. Throttled ones are a limiter's job.
pub(crate) fn is_paid(kind: Kind, is_limited: bool) -> bool {
    !(is_limited && kind == Kind::Throttled)
}

impl fmt::Debug for Failure<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Failure")
            .field("verdict", &self.verdict)
            .finish_non_exhaustive()
    }
}
