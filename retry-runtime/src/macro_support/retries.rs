//! The state that a call keeps, and how expansions report on it.

use core::fmt::Display;
use core::time::Duration;

use crate::call::site::Site;
use crate::call::state::Call;
use crate::classify::verdict::Verdict;

/// The whole state of a simple call: its policy is known at compile time, and its delays depend only on the number of
/// retries. So no section has its own `max`, no jitter is decorrelated, and no value is validated. A full [`Call`] is
/// built from it only after a failure, out of the way of calls that succeed.
///
/// Methods take `self`, so that the compiler finds them before the methods of a user's trait.
#[derive(Clone, Copy, Debug, Default)]
pub struct Retries(u32);

impl Retries {
    #[inline]
    pub const fn new() -> Self {
        Self(0)
    }

    /// The call after one more retry.
    #[inline]
    pub const fn next(self) -> Self {
        Self(self.0.saturating_add(1))
    }

    const fn call(self) -> Call {
        Call::after(self.0).counted_as_one()
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
