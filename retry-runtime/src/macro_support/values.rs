//! The types that keys accept as values: numbers, durations and policies.

use alloc::sync::Arc;
use core::borrow::Borrow;
use core::time::Duration;

#[cfg(feature = "std")]
use crate::SharedPolicy;
use crate::configure::policies::FindPolicy;
use crate::hedge::running::Measured;
use crate::{
    Backoff, Policies, Policy, Section,
    configuration::OwnPolicy,
    seam::{HedgeDelay, Moment},
};

/// Integers that can be a number of retries: a negative number means none, and one that is too large means unlimited.
#[diagnostic::on_unimplemented(
    message = "`{Self}` can't be a number of retries",
    label = "not an integer",
    note = "use an integer, or the word \"unlimited\""
)]
pub trait Count {
    fn count(self) -> u32;
}

/// Numbers that can be a factor.
#[diagnostic::on_unimplemented(
    message = "`{Self}` can't be a factor",
    label = "not a number",
    note = "use a number of at least 1"
)]
pub trait Factor {
    fn factor(self) -> f64;
}

/// Implements both traits for integers. Some are unsigned, hence the `allow`.
macro_rules! integers {
    ($($integer:ty)*) => {$(
        impl Count for $integer {
            #[allow(unused_comparisons)]
            fn count(self) -> u32 {
                u32::try_from(self).unwrap_or(if self < 0 { 0 } else { u32::MAX })
            }
        }

        impl Factor for $integer {
            #[allow(clippy::cast_lossless, clippy::cast_precision_loss)]
            fn factor(self) -> f64 {
                self as f64
            }
        }
    )*};
}
integers!(i8 i16 i32 i64 i128 isize u8 u16 u32 u64 u128 usize);

impl Factor for f64 {
    fn factor(self) -> f64 {
        self
    }
}

impl Factor for f32 {
    fn factor(self) -> f64 {
        self.into()
    }
}

/// The types that the key `backoff` accepts as a value.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a `Backoff`",
    label = "not a `Backoff`",
    note = "to compute the delay from the retry's number, write `backoff = |retry| delay(retry)`, or a path with `::`, as in `backoff = self::delay`"
)]
pub trait IntoBackoff {
    fn into_backoff(self) -> Backoff;
}

impl IntoBackoff for Backoff {
    fn into_backoff(self) -> Backoff {
        self
    }
}

/// Returns the closure unchanged. The bound lets the compiler infer the argument's type.
pub fn delays<F: FnMut(u32) -> Duration>(delays: F) -> F {
    delays
}

/// The types that the keys `timeout` and `deadline` accept.
#[diagnostic::on_unimplemented(
    message = "`{Self}` can't be a time limit",
    label = "neither a `Duration` nor an `Option<Duration>`",
    note = "use a duration such as `\"60s\"`, a `Duration`, or an `Option<Duration>`, where `None` means no limit"
)]
pub trait TimeLimit {
    fn limit(self) -> Option<Duration>;
}

impl TimeLimit for Duration {
    fn limit(self) -> Option<Duration> {
        Some(self)
    }
}

impl TimeLimit for Option<Duration> {
    fn limit(self) -> Option<Duration> {
        self
    }
}

/// The types that the key `hedge` accepts.
#[diagnostic::on_unimplemented(
    message = "`{Self}` can't be used for `hedge`",
    label = "neither a `Duration`, an `Option<Duration>` nor a `HedgeDelay`",
    note = "use a duration such as `\"200ms\"`, a `Duration`, an `Option<Duration>`, where `None` means never, or a quantile of a `retry_protections::Latency`"
)]
// A type parameter, because a missing associated type would cause a second compile error.
pub trait HedgeAfter<D> {
    /// The time after which another attempt starts next to a slow one, and the recorder of attempts' durations.
    fn hedge_after(self) -> (Option<Duration>, Option<D>);
}

#[diagnostic::do_not_recommend]
impl<T: TimeLimit> HedgeAfter<Unrecorded> for T {
    fn hedge_after(self) -> (Option<Duration>, Option<Unrecorded>) {
        (self.limit(), None)
    }
}

#[diagnostic::do_not_recommend]
impl<D: HedgeDelay> HedgeAfter<D> for D {
    fn hedge_after(self) -> (Option<Duration>, Option<D>) {
        (self.delay(), Some(self))
    }
}

/// The recorder of a key `hedge` with a fixed time. No value of this type exists, so nothing is recorded.
#[derive(Debug)]
pub enum Unrecorded {}

impl HedgeDelay for Unrecorded {
    fn delay(&self) -> Option<Duration> {
        match *self {}
    }

    fn record(&self, _: Duration) {
        match *self {}
    }
}

/// The time before hedging, and the recorder of attempts' durations on this clock.
#[inline]
pub fn hedge<D: HedgeDelay, N: Fn() -> Moment>(
    hedge: impl HedgeAfter<D>,
    now: N,
) -> (Option<Duration>, Measured<D, N>) {
    let (after, delay) = hedge.hedge_after();
    (after, Measured::new(after, delay, now))
}

/// The value of `hedge` if it contains a number above 1, as in `own.quantile(95)`. A time limit from a user's own
/// method is accepted, a `Quantile` is not.
#[diagnostic::on_unimplemented(
    message = "this quantile is out of range: use a number from 0 to 1, as in `0.95`, not `95`",
    label = "above 1"
)]
pub trait NoQuantile {}

#[diagnostic::do_not_recommend]
impl<T: TimeLimit> NoQuantile for T {}

/// Returns the value of `hedge` unchanged. Doesn't compile with a quantile.
#[inline]
pub fn no_quantile<H: NoQuantile>(hedge: H) -> H {
    hedge
}

/// The types that the key `policy` accepts.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a policy",
    label = "neither a `Policy` nor a `&Policy`",
    note = "pass a `retry_runtime::Policy`, a type that borrows as one, a `SharedPolicy` or `Policies`",
    note = "to choose the policy by the error, write `policy = |error| choose(error)`",
    note = "for a `LazyLock<Policy>` or another pointer, write `&*pointer`; for an `Option`, `option.unwrap_or(…)`"
)]
pub trait PolicySource {
    /// The policy of a call, by reference if possible. `name` passes the call's name to sources that need it.
    fn find(&self, name: impl FnOnce(&mut dyn FnMut(&str))) -> impl Borrow<Policy>;
}

#[diagnostic::do_not_recommend]
#[allow(
    refining_impl_trait,
    reason = "generated code needs a type that is `Send`"
)]
impl<P: Borrow<Policy>> PolicySource for P {
    #[inline]
    fn find(&self, _: impl FnOnce(&mut dyn FnMut(&str))) -> &Policy {
        self.borrow()
    }
}

macro_rules! found_by_name {
    ($($source:ty;)*) => {$(
        found_by_name!(@ $source, &$source, Arc<$source>, &Arc<$source>);
    )*};
    (@ $($source:ty),*) => {$(
        #[diagnostic::do_not_recommend]
        #[allow(refining_impl_trait, reason = "generated code needs a type that is `Send`")]
        impl PolicySource for $source {
            fn find(&self, name: impl FnOnce(&mut dyn FnMut(&str))) -> Policy {
                let mut found = Policy::new();
                name(&mut |name| found = self.resolve(name, &Policy::new()));
                found
            }
        }
    )*};
}

found_by_name! {
    Policies;
    OwnPolicy<'_, Policies>;
}
#[cfg(feature = "std")]
found_by_name! {
    SharedPolicy;
    SharedPolicy<Policies>;
    OwnPolicy<'_, SharedPolicy<Policies>>;
}

#[inline]
pub fn policy<P: Borrow<Policy>>(found: &P) -> &Policy {
    found.borrow()
}

/// The source of the policy for this failure.
#[inline]
pub fn chosen_policy<'a, E, P>(error: &'a E, choose: impl FnOnce(&'a E) -> P) -> P {
    choose(error)
}

/// Builds a policy from all values at once. Each setter would copy all of them, and the compiler would evaluate these
/// copies for every attribute whenever it checks a crate.
pub const fn policy_of(numbers: Section) -> Policy {
    Policy::new().with_section(None, numbers)
}

/// The policy with the key `enabled`: it retries only if both the policy's value and the key's are true.
pub fn enabled_if(policy: &Policy, enabled: bool) -> Policy {
    policy.enabled(enabled && policy.is_enabled())
}

/// Returns true if the policy has a time limit at which attempts are dropped.
#[inline]
pub fn drops_attempts(policy: &Policy) -> bool {
    policy.attempt_limit().is_some() || policy.total_limit().is_some()
}
