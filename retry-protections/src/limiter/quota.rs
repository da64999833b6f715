use std::mem;
use std::time::Duration;

use retry_runtime::seam::{AttemptOutcome, Change, Moment};

use crate::limiter::gate::{Gate, Now, Paced};
use crate::limiter::token_bucket::TokenBucket;

/// Known limits, created by [`RateLimiter::quota`](crate::RateLimiter::quota) and
/// [`RateLimiter::fixed`](crate::RateLimiter::fixed).
#[derive(Clone, Copy, Debug)]
pub struct Quota {
    burst: u32,
    /// The largest burst, as the time in which it accumulates.
    capacity: Duration,
    /// The limit on requests: each attempt takes 1, regardless of its cost.
    requests: Option<Allowance>,
    /// The limit on units: each attempt takes its cost.
    pub(super) units: Allowance,
}

/// An amount for each period, and its current use.
#[derive(Clone, Copy, Debug)]
pub(super) struct Allowance {
    amount: u32,
    period: Duration,
    bucket: TokenBucket,
    /// Refunds beyond the debt, up to the amount of a period. The server still allows them, although they exceed the
    /// bucket's capacity.
    credit: u32,
}

impl Quota {
    /// Raises amounts of 0 to 1, and a period of zero to a nanosecond.
    pub(super) const fn new(requests: Option<u32>, units: u32, period: Duration) -> Self {
        let quota = Self {
            burst: 1,
            capacity: Duration::ZERO,
            requests: match requests {
                Some(requests) => Some(Allowance::new(requests, period)),
                None => None,
            },
            units: Allowance::new(units, period),
        };
        quota.burst(1)
    }

    pub(super) const fn burst(self, burst: u32) -> Self {
        let burst = if burst == 0 { 1 } else { burst };
        let capacity = match &self.requests {
            Some(requests) => requests.time(burst),
            None => self.units.time(burst),
        };
        Self {
            burst,
            capacity,
            ..self
        }
    }

    pub(super) fn set_units(&mut self, amount: u32, now: Moment) {
        self.units.set_amount(amount, now);
        *self = self.burst(self.burst);
    }

    /// Returns `None` and changes nothing if there is no limit of requests, or `amount` is 0.
    pub(super) fn set_requests(&mut self, amount: u32, now: Moment) -> Option<()> {
        let requests = self.requests.as_mut().filter(|_| amount > 0)?;
        requests.set_amount(amount, now);
        *self = self.burst(self.burst);
        Some(())
    }

    /// Lowers the available amounts to these.
    pub(super) fn lower_all(&mut self, requests: Option<u32>, tokens: Option<u32>, now: Moment) {
        let mut units = requests;
        if let Some(allowance) = &mut self.requests {
            allowance.lower_to(requests, self.capacity, now);
            units = tokens;
        }
        self.units.lower_to(units, self.capacity, now);
    }

    fn allowances(&mut self, cost: u32) -> impl Iterator<Item = (&mut Allowance, u32)> {
        let requests = self.requests.as_mut().map(|requests| (requests, 1));
        requests.into_iter().chain([(&mut self.units, cost)])
    }
}

impl Allowance {
    const fn new(amount: u32, period: Duration) -> Self {
        Self {
            amount: if amount == 0 { 1 } else { amount },
            period: if period.is_zero() {
                Duration::from_nanos(1)
            } else {
                period
            },
            bucket: TokenBucket::FULL,
            credit: 0,
        }
    }

    /// The time in which `units` accumulate.
    const fn time(&self, units: u32) -> Duration {
        self.scale(self.period, units)
    }

    /// `span` times `units` divided by the amount, at most 584 years. Rounded up, so that the server's limit is never
    /// exceeded.
    #[expect(clippy::cast_possible_truncation, reason = "not above the most")]
    const fn scale(&self, span: Duration, units: u32) -> Duration {
        const MOST: u128 = u64::MAX as u128;
        let nanos = span.as_nanos().saturating_mul(units as u128);
        let nanos = nanos.div_ceil(self.amount as u128);
        Duration::from_nanos(if nanos < MOST { nanos as u64 } else { u64::MAX })
    }

    /// The number of whole units that accumulate in `time`.
    fn units(&self, time: Duration) -> u32 {
        let units = time.as_nanos().saturating_mul(self.amount.into()) / self.period.as_nanos();
        u32::try_from(units).unwrap_or(u32::MAX)
    }

    /// Changes the amount. The debt and the credit stay the same in units, because running attempts may still return
    /// units.
    fn set_amount(&mut self, amount: u32, now: Moment) {
        let before = mem::replace(&mut self.amount, amount);
        let owed = self.scale(self.bucket.debt(now), before);
        self.bucket.set_debt(owed, now);
        self.credit = self.credit.min(amount);
    }

    /// Takes up to `units` from the credit. Returns the number taken.
    fn take_credit(&mut self, units: u32) -> u32 {
        let taken = units.min(self.credit);
        self.credit -= taken;
        taken
    }

    fn add_credit(&mut self, units: u32) {
        self.credit = self.credit.saturating_add(units).min(self.amount);
    }

    /// Charges an attempt that starts. Returns the number of units that the credit paid for.
    fn charge(&mut self, units: u32, now: Moment) -> u32 {
        let credited = self.take_credit(units);
        self.bucket.charge(self.time(units - credited), now);
        credited
    }

    /// Refunds a charge, of which the credit paid for `credited` units. Other units are not refunded if time has
    /// already paid for them.
    fn refund(&mut self, units: u32, credited: u32) {
        self.bucket
            .reduce_debt(self.time(units.saturating_sub(credited)));
        self.add_credit(credited);
    }

    /// Corrects the charge of an attempt: it was charged `cost`, but used `used`.
    pub(super) fn settle(&mut self, cost: u32, used: u32, now: Moment) {
        if let Some(more) = used.checked_sub(cost) {
            let left = more - self.take_credit(more);
            let owed = self.bucket.debt(now).saturating_add(self.time(left));
            self.bucket.set_debt(owed, now);
        } else {
            let time = self.time(cost - used);
            let left = time.saturating_sub(self.bucket.debt(now));
            self.bucket.reduce_debt(time);
            self.add_credit(self.units(left));
        }
    }

    /// Lowers the available amount to `remaining`, if more is available.
    fn lower_to(&mut self, remaining: Option<u32>, capacity: Duration, now: Moment) {
        if let Some(remaining) = remaining {
            let credit = remaining.saturating_sub(self.units(capacity));
            self.credit = self.credit.min(credit);
            let owed = capacity.saturating_sub(self.time(remaining));
            self.bucket.set_debt(self.bucket.debt(now).max(owed), now);
        }
    }
}

impl Gate for Quota {
    fn per_second(&self) -> Option<f64> {
        Some(f64::from(self.units.amount) / self.units.period.as_secs_f64())
    }

    /// False with a burst: attempts that waited for a pause to end would all start at once.
    fn has_pace(&self) -> bool {
        self.burst == 1
    }

    fn admit(&mut self, cost: u32, now: impl Now) -> Result<u32, Option<Duration>> {
        let (now, capacity) = (now(), self.capacity);
        let wait = |(allowance, units): (&mut Allowance, u32)| {
            let time = allowance.time(units);
            allowance.bucket.wait_time(time, capacity, now)
        };
        let longest = self.allowances(cost).map(wait).max().unwrap_or_default();
        let mut credited = 0;
        for (allowance, units) in self.allowances(cost) {
            if longest.is_zero() {
                credited = allowance.charge(units, now);
            } else {
                allowance.bucket.is_late = wait((allowance, units)) == longest;
            }
        }
        if longest.is_zero() {
            // The units' allowance is the last one, so `credited` is the units' credit. Requests have no credit,
            // because `settle` never refunds them.
            Ok(credited)
        } else {
            Err(Some(longest))
        }
    }

    #[inline]
    fn leave(
        &mut self,
        cost: u32,
        credited: u32,
        outcome: AttemptOutcome,
        _: impl Now,
    ) -> Option<Change> {
        if outcome == AttemptOutcome::NotBegun {
            if let Some(requests) = &mut self.requests {
                requests.refund(1, 0);
            }
            self.units.refund(cost, credited);
        }
        None
    }
}

impl Paced for Quota {
    fn available(&self, now: Moment) -> f64 {
        let is_used_up = |requests: &Allowance| {
            requests.bucket.debt(now) > self.capacity.saturating_sub(requests.time(1))
        };
        if self.requests.as_ref().is_some_and(is_used_up) {
            return 0.0;
        }
        let there = self.capacity.saturating_sub(self.units.bucket.debt(now));
        there.as_secs_f64() * self.rate() + f64::from(self.units.credit)
    }

    /// Ignores `is_unused`, because a debt may take longer to pay off.
    fn can_evict(&self, new: &Self, _: bool, now: Moment) -> bool {
        let can_evict = |(own, new): (&Allowance, &Allowance)| {
            own.amount == new.amount && own.bucket.debt(now).is_zero()
        };
        let requests = self.requests.as_ref().zip(new.requests.as_ref());
        can_evict((&self.units, &new.units)) && requests.is_none_or(can_evict)
    }
}
