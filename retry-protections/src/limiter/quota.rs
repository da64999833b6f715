use std::mem;
use std::time::Duration;

use retry_runtime::{AttemptOutcome, Change, Moment};

use crate::limiter::debt::Debt;
use crate::limiter::gate::{Gate, Now};
use crate::limiter::paced::Paced;
use crate::limiter::remaining::Remaining;

/// Known limits, created by [`RateLimiter::quota`](crate::RateLimiter::quota) and
/// [`RateLimiter::fixed`](crate::RateLimiter::fixed).
#[derive(Clone, Copy, Debug)]
pub struct Quota {
    period: Duration,
    burst: u32,
    /// The largest burst, as the time in which it accumulates.
    capacity: Duration,
    /// The limit of which each attempt takes 1, whatever it costs.
    requests: Option<Allowance>,
    /// The limit of which each attempt takes its cost.
    units: Allowance,
}

/// An amount for each period, and its current use.
#[derive(Clone, Copy, Debug)]
struct Allowance {
    amount: u32,
    debt: Debt,
    /// Refunds beyond the debt, as time. Zero while anything is owed.
    credit: Duration,
}

impl Quota {
    /// Raises amounts of 0 to 1, and a period of zero to a nanosecond.
    pub(super) const fn new(requests: Option<u32>, units: u32, period: Duration) -> Self {
        let quota = Self {
            period: if period.is_zero() {
                Duration::from_nanos(1)
            } else {
                period
            },
            burst: 1,
            capacity: Duration::ZERO,
            requests: match requests {
                Some(requests) => Some(Allowance::new(requests)),
                None => None,
            },
            units: Allowance::new(units),
        };
        quota.burst(1)
    }

    pub(super) const fn burst(self, burst: u32) -> Self {
        let burst = if burst == 0 { 1 } else { burst };
        let capacity = match &self.requests {
            Some(requests) => requests.time(burst, self.period),
            None => self.units.time(burst, self.period),
        };
        Self {
            burst,
            capacity,
            ..self
        }
    }

    pub(super) fn set_units(&mut self, amount: u32, now: Moment) {
        self.units.set_amount(amount, self.period, now);
        *self = self.burst(self.burst);
    }

    /// Returns `None` and changes nothing if there is no limit of requests, or `amount` is 0.
    pub(super) fn set_requests(&mut self, amount: u32, now: Moment) -> Option<()> {
        let requests = self.requests.as_mut().filter(|_| amount > 0)?;
        requests.set_amount(amount, self.period, now);
        *self = self.burst(self.burst);
        Some(())
    }

    /// Corrects the charge of an attempt: it was charged `cost`, but used `used`.
    pub(super) fn settle(&mut self, cost: u32, used: u32, now: Moment) {
        let period = self.period;
        // The time until now pays only for what was charged until now.
        self.units.debt.pay(now);
        if let Some(more) = used.checked_sub(cost) {
            let time = self.units.time(more, period);
            let time = self.units.uncredited(time);
            self.units.debt.add(time);
        } else {
            self.units
                .give(self.units.time(cost - used, period), period);
        }
    }

    pub(super) fn remaining(&mut self, remaining: Remaining, now: Moment) {
        let (period, capacity) = (self.period, self.capacity);
        let at_most = |allowance: &mut Allowance, remaining: Option<u32>| {
            if let Some(remaining) = remaining {
                allowance.at_most(allowance.time(remaining, period), capacity, now);
            }
        };
        match &mut self.requests {
            Some(requests) => {
                at_most(requests, remaining.requests);
                at_most(&mut self.units, remaining.tokens);
            }
            None => at_most(&mut self.units, remaining.requests),
        }
    }

    fn allowances(&mut self, cost: u32) -> impl Iterator<Item = (&mut Allowance, u32)> {
        let requests = self.requests.as_mut().map(|requests| (requests, 1));
        requests.into_iter().chain([(&mut self.units, cost)])
    }
}

impl Allowance {
    const fn new(amount: u32) -> Self {
        Self {
            amount: if amount == 0 { 1 } else { amount },
            debt: Debt::NONE,
            credit: Duration::ZERO,
        }
    }

    /// The time in which `units` accumulate, at most 584 years. Rounded up, so that there are never more than the
    /// server allows.
    #[expect(clippy::cast_possible_truncation, reason = "not above the most")]
    const fn time(&self, units: u32, period: Duration) -> Duration {
        const MOST: u128 = u64::MAX as u128;
        let nanos = period.as_nanos().saturating_mul(units as u128);
        Duration::from_nanos(if nanos <= MOST {
            // Nearly always the case, and faster in 64 bits.
            (nanos as u64).div_ceil(self.amount as u64)
        } else {
            let nanos = nanos.div_ceil(self.amount as u128);
            if nanos < MOST { nanos as u64 } else { u64::MAX }
        })
    }

    /// Changes the amount. The debt and the credit stay the same in units, because running attempts may still return
    /// units.
    fn set_amount(&mut self, amount: u32, period: Duration, now: Moment) {
        let before = mem::replace(&mut self.amount, amount);
        self.debt.pay(now);
        let owed = self.debt.owed(now);
        self.debt.forgive(owed);
        self.debt.add(self.time(before, owed));
        self.credit = self.time(before, self.credit).min(period);
    }

    /// Charges `time`. Returns the part that the credit paid for.
    fn charge(&mut self, time: Duration, now: Moment) -> Duration {
        let owed = self.uncredited(time);
        self.debt.charge(owed, now);
        time.saturating_sub(owed)
    }

    /// Takes back a charge of `units`, of which the credit paid for `credited`. If time has already paid for some of
    /// the others, these are not refunded.
    fn undo(&mut self, units: u32, credited: u32, period: Duration) {
        let credited = self.time(credited, period);
        let owed = self.time(units, period).saturating_sub(credited);
        self.debt.forgive(owed);
        self.credit = self.credit.saturating_add(credited).min(period);
    }

    /// The number of whole units that accumulate in `time`.
    fn units(&self, time: Duration, period: Duration) -> u32 {
        if time.is_zero() {
            return 0;
        }
        let units = time.as_nanos().saturating_mul(self.amount.into()) / period.as_nanos();
        u32::try_from(units).unwrap_or(u32::MAX)
    }

    /// Pays for `time` with the credit. Returns the part that it doesn't cover.
    fn uncredited(&mut self, time: Duration) -> Duration {
        let left = time.saturating_sub(self.credit);
        self.credit = self.credit.saturating_sub(time);
        left
    }

    /// Refunds `time`: to the debt first, then as credit, up to the amount of a period. The server still has that much,
    /// even though the passing of time never fills the bucket above its capacity.
    fn give(&mut self, time: Duration, period: Duration) {
        let left = self.debt.forgive(time);
        self.credit = self.credit.saturating_add(left).min(period);
    }

    /// Lowers the available amount to `remaining`, if it is more.
    fn at_most(&mut self, remaining: Duration, capacity: Duration, now: Moment) {
        self.debt.pay(now);
        self.credit = self.credit.min(remaining.saturating_sub(capacity));
        self.debt.at_least(capacity.saturating_sub(remaining));
    }
}

impl Gate for Quota {
    fn per_second(&self) -> Option<f64> {
        Some(f64::from(self.units.amount) / self.period.as_secs_f64())
    }

    /// False with a burst: attempts that waited for a pause to end would all begin at once.
    fn has_pace(&self) -> bool {
        self.burst == 1
    }

    fn admit(&mut self, cost: u32, now: impl Now) -> Result<u32, Option<Duration>> {
        let (now, period, capacity) = (now(), self.period, self.capacity);
        let mut wait = Duration::ZERO;
        let mut times = [Duration::ZERO; 2];
        for ((allowance, units), time) in self.allowances(cost).zip(&mut times) {
            allowance.debt.pay(now);
            *time = allowance.time(units, period);
            wait = wait.max(allowance.debt.wait(*time, capacity, now));
        }
        if !wait.is_zero() {
            for (allowance, _) in self.allowances(cost) {
                allowance.debt.defer(wait, now);
            }
            return Err(Some(wait));
        }
        let mut credited = 0;
        for ((allowance, units), time) in self.allowances(cost).zip(times) {
            let paid = allowance.charge(time, now);
            credited = allowance.units(paid, period).min(units);
        }
        // The loop ends with the units, so this is their credit. Requests have none, because they are never returned.
        Ok(credited)
    }

    #[inline]
    fn ended(
        &mut self,
        cost: u32,
        credited: u32,
        outcome: AttemptOutcome,
        _: impl Now,
    ) -> Option<Change> {
        if outcome == AttemptOutcome::NotBegun {
            if let Some(requests) = &mut self.requests {
                requests.undo(1, 0, self.period);
            }
            self.units.undo(cost, credited, self.period);
        }
        None
    }
}

impl Paced for Quota {
    fn available(&self, now: Moment) -> f64 {
        let (period, capacity) = (self.period, self.capacity);
        let waits = |requests: &Allowance| {
            let time = requests.time(1, period);
            !requests.debt.wait(time, capacity, now).is_zero()
        };
        if self.requests.as_ref().is_some_and(waits) {
            return 0.0;
        }
        let there = capacity.saturating_add(self.units.credit);
        let there = there.saturating_sub(self.units.debt.owed(now));
        there.as_secs_f64() * self.rate()
    }

    /// A debt remains a debt, however long the limiter is unused.
    fn is_at_rest(&self, new: &Self, _: bool, now: Moment) -> bool {
        let owes = |allowance: &Allowance| !allowance.debt.owed(now).is_zero();
        let amounts = |quota: &Self| {
            let requests = quota.requests.map(|requests| requests.amount);
            (quota.units.amount, requests)
        };
        amounts(self) == amounts(new)
            && !owes(&self.units)
            && !self.requests.as_ref().is_some_and(owes)
    }
}
