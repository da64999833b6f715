//! The state that a call keeps, and how expansions report on it.

use core::fmt::Display;
use core::time::Duration;

use crate::budget::retry_budget::RetryBudget;
use crate::call::failure::Failure;
use crate::call::site::Site;
use crate::call::state::Call;
use crate::classify::kind::Kind;
use crate::classify::verdict::Verdict;
use crate::observe::reason::Reason;

/// The whole state of a simple call: its policy is known at compile time, and its delays depend only on the number of
/// retries. So no section has its own `max`, no jitter is decorrelated, and no value is validated. A full [`Call`] is
/// built from it only after a failure, out of the way of calls that succeed.
///
/// Methods take `self`, so that the compiler finds them before the methods of a user's trait.
///
/// The upper bits have the kind of failure that the last retry followed, for the budget that it was paid from. The others
/// count up to half a billion, which is as good as endless.
#[derive(Clone, Copy, Debug, Default)]
pub struct Retries(u32);

const COUNT: u32 = u32::MAX >> 3;

// As many as `call` finds in the upper bits.
const _: () = assert!(Kind::OF_FAILURES.len() == 4);

impl Retries {
    #[inline]
    pub const fn new() -> Self {
        Self(0)
    }

    /// The call after one more retry.
    #[inline]
    pub const fn next(self) -> Self {
        if self.count() == COUNT {
            return self;
        }
        Self(self.0 + 1)
    }

    const fn count(self) -> u32 {
        self.0 & COUNT
    }

    const fn call(self) -> Call {
        let mut call = Call::after(self.count()).counted_as_one();
        call.followed = match self.0 >> COUNT.count_ones() {
            1 => Some(Kind::Transient),
            2 => Some(Kind::Throttled),
            3 => Some(Kind::Timeout),
            4 => Some(Kind::Invalid),
            _ => None,
        };
        call
    }

    /// The pause after a failure without further details, where nobody asks for the reason to stop: less code at the
    /// call. The call goes on as [`next`](Self::next).
    #[cold]
    #[inline(never)]
    pub fn failed_plainly(
        self,
        site: &Site<'_>,
        verdict: Verdict,
        error: &dyn Display,
    ) -> Option<Duration> {
        self.call().failed(site, verdict, error).ok()
    }

    #[cold]
    #[inline(never)]
    pub fn failed_with(&mut self, failure: Failure<'_>) -> Result<Duration, Reason> {
        let mut call = self.call();
        let pause = call.failed_with(failure)?;
        let followed = call.followed.map_or(0, |kind| kind as u32 + 1);
        *self = Self(self.next().count() | followed << COUNT.count_ones());
        Ok(pause)
    }

    /// Like [`Call::followed`].
    pub const fn followed(&self) -> Option<Kind> {
        self.call().followed
    }

    /// Like [`Call::credit`].
    #[inline]
    pub fn credit<B: RetryBudget>(&self, budget: &B) {
        if self.0 == 0 {
            Call::new().credit(budget);
        } else {
            self.call().credit(budget);
        }
    }

    #[inline]
    pub fn healed(self, site: &Site<'_>) {
        if self.0 != 0 {
            self.report_healed(site);
        }
    }

    #[cold]
    #[inline(never)]
    fn report_healed(self, site: &Site<'_>) {
        self.whole(site).healed(site.name(), None);
    }

    pub fn whole(self, site: &Site<'_>) -> Call {
        self.call().with_max(match self.0 {
            0 => site.policy.retries_allowed(),
            _ => site.policy_in_force().retries_allowed(),
        })
    }
}

/// The state of a simple call whose policy has expressions for numbers: keeps the last value of `max` for the log and observers.
#[derive(Clone, Copy, Debug, Default)]
pub struct LimitedRetries {
    retries: Retries,
    max: u32,
}

impl LimitedRetries {
    #[inline]
    pub const fn new() -> Self {
        Self {
            retries: Retries::new(),
            max: 0,
        }
    }

    #[inline]
    #[must_use]
    pub const fn with_max(self, max: u32) -> Self {
        Self { max, ..self }
    }

    #[cold]
    #[inline(never)]
    pub fn failed_with(&mut self, failure: Failure<'_>) -> Result<Duration, Reason> {
        self.max = failure.site().policy_in_force().retries_allowed();
        self.retries.failed_with(failure)
    }

    #[inline]
    pub const fn whole(self) -> Call {
        self.retries.call().with_max(self.max)
    }

    /// Like [`Call::followed`].
    pub const fn followed(&self) -> Option<Kind> {
        self.retries.followed()
    }

    /// Like [`Call::credit`].
    #[inline]
    pub fn credit<B: RetryBudget>(&self, budget: &B) {
        self.retries.credit(budget);
    }
}
