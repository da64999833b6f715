use std::mem;
use std::time::Duration;

use retry_runtime::{AttemptOutcome, Change, Moment};

use crate::limiter::debt::Debt;
use crate::limiter::gate::{Gate, Now};
use crate::limiter::paced::Paced;
use crate::limiter::remaining::Remaining;

/// Limits that are known: made by [`RateLimiter::quota`](crate::RateLimiter::quota) and
/// [`RateLimiter::fixed`](crate::RateLimiter::fixed).
#[derive(Clone, Copy, Debug)]
pub struct Quota {
    period: Duration,
    burst: u32,
    /// What may begin at once, in the time that it takes to gather it.
    capacity: Duration,
    /// What each attempt takes one of, whatever it costs.
    requests: Option<Allowance>,
    /// What each attempt takes its cost of.
    units: Allowance,
}

/// An amount for each period.
#[derive(Clone, Copy, Debug)]
struct Allowance {
    amount: u32,
    debt: Debt,
    /// What was given back beyond the debt: none while anything is owed.
    credit: Duration,
}

impl Quota {
    /// At least one for each period, and a period of at least a nanosecond.
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

    /// None where there are none, or never any.
    pub(super) fn set_requests(&mut self, amount: u32, now: Moment) -> Option<()> {
        let requests = self.requests.as_mut().filter(|_| amount > 0)?;
        requests.set_amount(amount, self.period, now);
        *self = self.burst(self.burst);
        Some(())
    }

    /// An attempt that took `cost` has used `used`.
    pub(super) fn settle(&mut self, cost: u32, used: u32, now: Moment) {
        let period = self.period;
        // What has passed until now has paid for what was taken until now.
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

    /// The time in which so many units are gathered, up to six hundred years: rounded up, so that
    /// there are never more than the server allows.
    #[expect(clippy::cast_possible_truncation, reason = "not above the most")]
    const fn time(&self, units: u32, period: Duration) -> Duration {
        const MOST: u128 = u64::MAX as u128;
        let nanos = period.as_nanos().saturating_mul(units as u128);
        Duration::from_nanos(if nanos <= MOST {
            // Faster, and nearly always so.
            (nanos as u64).div_ceil(self.amount as u64)
        } else {
            let nanos = nanos.div_ceil(self.amount as u128);
            if nanos < MOST { nanos as u64 } else { u64::MAX }
        })
    }

    /// As many units stay owed and credited: what runs gives back units.
    fn set_amount(&mut self, amount: u32, period: Duration, now: Moment) {
        let before = mem::replace(&mut self.amount, amount);
        self.debt.pay(now);
        let owed = self.debt.owed(now);
        self.debt.forgive(owed);
        self.debt.add(self.time(before, owed));
        self.credit = self.time(before, self.credit).min(period);
    }

    /// Returns how much the credit paid for.
    fn charge(&mut self, time: Duration, now: Moment) -> Duration {
        let owed = self.uncredited(time);
        self.debt.charge(owed, now);
        time.saturating_sub(owed)
    }

    /// Takes back a charge of that many units. Credit paid for `credited` of them. Time may have paid for the rest
    /// since: nothing is owed for it then.
    fn undo(&mut self, units: u32, credited: u32, period: Duration) {
        let credited = self.time(credited, period);
        let owed = self.time(units, period).saturating_sub(credited);
        self.debt.forgive(owed);
        self.credit = self.credit.saturating_add(credited).min(period);
    }

    /// How many whole units are gathered in that time.
    fn units(&self, time: Duration, period: Duration) -> u32 {
        if time.is_zero() {
            return 0;
        }
        let units = time.as_nanos().saturating_mul(self.amount.into()) / period.as_nanos();
        u32::try_from(units).unwrap_or(u32::MAX)
    }

    /// What the credit does not pay for.
    fn uncredited(&mut self, time: Duration) -> Duration {
        let left = time.saturating_sub(self.credit);
        self.credit = self.credit.saturating_sub(time);
        left
    }

    /// Beyond the debt, up to what a period brings: the server still has it, while time alone never fills the bucket
    /// above its capacity.
    fn give(&mut self, time: Duration, period: Duration) {
        let left = self.debt.forgive(time);
        self.credit = self.credit.saturating_add(left).min(period);
    }

    /// No more than that is there.
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

    /// A burst that was gathered during a pause would come as one wave.
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
        // Of the units, which are the last: nobody gives requests back.
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

    /// What is owed is owed however long it is unused.
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
