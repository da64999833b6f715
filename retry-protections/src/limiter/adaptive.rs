use std::time::Duration;

use retry_runtime::Kind;
use retry_runtime::seam::{AttemptOutcome, Change, Moment};

use crate::limiter::gate::{Gate, Now, Paced};
use crate::limiter::token_bucket::TokenBucket;

/// A rate that refusals lower and successes raise, created by [`RateLimiter::adaptive`](crate::RateLimiter::adaptive).
#[derive(Clone, Copy, Debug)]
pub struct Adaptive {
    pub(super) least: f64,
    pub(super) most: f64,
    /// The rate, in cost per second; infinite until a refusal lowers it.
    pub(super) rate: f64,
    /// The last rate at which attempts succeeded; infinite if unknown. Below it, the rate rises fast.
    good_rate: f64,
    bucket: TokenBucket,
    /// The number of times that refusals or an operator lowered the rate. If an attempt that started before the last
    /// reduction is refused, the rate stays the same.
    lowered: u32,
    /// The cost of attempts that started since the rate was last lowered, and succeeded.
    successes_since: f64,
    /// The time at which the rate was last lowered, plus the hint of that refusal.
    lowered_at: Moment,
    /// The successes since the share of refusals was last above [`FEW_REFUSALS`].
    steady: Throughput,
    /// The highest rate of `steady`, per second.
    highest: f64,
    /// The share of refusals, averaged over about [`AVERAGED_OVER`] attempts.
    refused: f64,
    /// The number of attempts that had to wait since the rate was last lowered, less the successes that have raised it
    /// since. A success raises the rate only while this is above 0, so a rate that is not used up doesn't rise.
    delayed: u32,
    throughput: Throughput,
}

/// The factor by which a refusal lowers the rate, or the rate of successes if that is lower.
const LOWER_FACTOR: f64 = 0.9;
/// The factor by which a success raises the rate, unless the rate is below the last good one.
const RAISE_FACTOR: f64 = 1.002;
/// The smallest share of the highest rate that remains after refusals, while they are few. Some servers refuse attempts
/// at any rate, and each refusal would lower the rate further. TCP also halves its window after a loss.
const MIN_KEPT: f64 = 0.5;
/// The share of refusals above which the server's limit is considered lower than before.
const FEW_REFUSALS: f64 = 0.2;
/// The number of attempts over which the share of refusals is averaged.
const AVERAGED_OVER: f64 = 64.0;
/// The longest time between two attempts. A rate that is far too low still gets tested, and so rises again.
const LONGEST_GAP: Duration = Duration::from_secs(60);

impl Adaptive {
    pub(super) const fn new() -> Self {
        Self {
            least: f64::MIN_POSITIVE,
            most: f64::INFINITY,
            rate: f64::INFINITY,
            good_rate: f64::INFINITY,
            bucket: TokenBucket::FULL,
            lowered: 0,
            successes_since: 0.0,
            lowered_at: Moment::from_origin(Duration::ZERO),
            steady: Throughput::NONE,
            highest: 0.0,
            refused: 0.0,
            delayed: 0,
            throughput: Throughput::NONE,
        }
    }

    /// Returns a copy with the rate clamped to these bounds. If they contradict each other, `least` applies.
    pub(super) const fn within(self, rate: f64, least: f64, most: f64) -> Self {
        // `max` also replaces a NaN.
        let (least, most) = (least.max(f64::MIN_POSITIVE), most.max(f64::MIN_POSITIVE));
        Self {
            least,
            most,
            rate: rate.min(most).max(least),
            ..self
        }
    }

    /// Sets the highest rate while the limiter is in use. A lower rate invalidates earlier stamps, because attempts
    /// that started at a higher rate were charged less than they would be refunded.
    pub(super) fn set_most(&mut self, most: f64) {
        let before = self.rate;
        *self = self.within(self.rate, self.least, most);
        if self.rate < before {
            self.lowered = self.lowered.wrapping_add(1);
        }
    }

    fn set_rate(&mut self, rate: f64) {
        self.rate = rate.min(self.most).max(self.least);
    }

    fn time(&self, cost: u32) -> Duration {
        let time = Duration::try_from_secs_f64(f64::from(cost) / self.rate);
        time.unwrap_or(Duration::MAX).min(LONGEST_GAP)
    }

    fn lower(&mut self, cost: u32, hint: Option<Duration>, now: Moment) -> Option<Change> {
        let hint = hint.unwrap_or_default().min(MEMORY);
        let rate = if self.refused <= FEW_REFUSALS && self.throughput.since.is_some() {
            self.rate_after_few(hint, now)?
        } else {
            (self.highest, self.steady) = (0.0, Throughput::NONE);
            self.rate_after_many(cost, hint, now)
        };
        let is_first = self.rate.is_infinite();
        self.set_rate(rate.min(self.rate));
        // If nothing succeeded, the last good rate stays the same.
        if self.successes_since > 0.0 {
            // Before the first refusal, the rate of successes may just be the rate at which calls were made, unless
            // they came in a burst.
            let is_unknown = is_first && self.throughput.span(now) > hint.max(SECOND);
            let good = (!is_unknown).then_some(self.rate);
            self.good_rate = good.unwrap_or(f64::INFINITY);
        }
        self.successes_since = 0.0;
        self.lowered_at = now.checked_add(hint).unwrap_or(now);
        self.lowered = self.lowered.wrapping_add(1);
        self.delayed = 0;
        // The refused attempt is charged at the new rate.
        let owed = self.bucket.debt(now).max(self.time(cost));
        self.bucket.set_debt(owed, now);
        Some(Change::Rate(self.rate))
    }

    /// The rate after a refusal, if refusals are few: the larger their share, the lower the rate. `None` if the rate
    /// stays unlimited, because no rate has been measured or the server sent a hint.
    fn rate_after_few(&mut self, hint: Duration, now: Moment) -> Option<f64> {
        if self.steady.span(now) >= SECOND {
            let through = self.steady.per_second(Duration::ZERO, now);
            self.highest = self.highest.max(through);
        }
        let lowered = if self.rate.is_finite() && hint.is_zero() {
            self.rate_after_many(0, hint, now)
        } else if self.rate.is_finite() {
            self.rate * LOWER_FACTOR
        } else if hint.is_zero() && self.highest > 0.0 {
            0.0
        } else {
            return None;
        };
        let kept = (1.0 - 2.0 * self.refused).clamp(MIN_KEPT, LOWER_FACTOR);
        Some(lowered.max(self.highest * kept))
    }

    /// The rate after a refusal, if refusals are many: below the rate of successes.
    fn rate_after_many(&mut self, cost: u32, hint: Duration, now: Moment) -> f64 {
        let since = per_second(self.successes_since, now.since(self.lowered_at), hint);
        let through = self.throughput.per_second(hint, now).max(since);
        if through > 0.0 {
            self.rate.min(through) * LOWER_FACTOR
        } else {
            // Nothing has succeeded: start with at most one attempt of this cost per second.
            (self.rate * LOWER_FACTOR).min(f64::from(cost.max(1)))
        }
    }

    /// Updates the share of refusals: `refused` is 1 for a refusal, 0 for a success.
    fn update_refused(&mut self, refused: f64) {
        self.refused += (refused - self.refused) / AVERAGED_OVER;
    }

    fn raise(&mut self, cost: u32) {
        let rate = if self.rate < self.good_rate {
            (self.rate + f64::from(cost)).min(self.good_rate)
        } else {
            self.rate * RAISE_FACTOR
        };
        self.set_rate(rate);
    }
}

impl Gate for Adaptive {
    fn per_second(&self) -> Option<f64> {
        Some(self.rate)
    }

    #[inline]
    fn admit(&mut self, cost: u32, now: impl Now) -> Result<u32, Option<Duration>> {
        if self.rate.is_infinite() {
            return Ok(self.lowered);
        }
        let (time, now) = (self.time(cost), now());
        let wait = self.bucket.wait_time(time, time, now);
        if !wait.is_zero() {
            self.bucket.is_late = true;
            return Err(Some(wait));
        }
        if self.bucket.charge(time, now) {
            self.delayed = self.delayed.saturating_add(1);
        }
        Ok(self.lowered)
    }

    #[inline]
    fn leave(
        &mut self,
        cost: u32,
        stamp: u32,
        outcome: AttemptOutcome,
        now: impl Now,
    ) -> Option<Change> {
        let is_current = stamp == self.lowered;
        match outcome {
            AttemptOutcome::Success => {
                self.update_refused(0.0);
                let now = now();
                self.throughput.add(cost, now);
                self.steady.add(cost, now);
                if is_current {
                    self.successes_since += f64::from(cost);
                    if self.delayed > 0 {
                        self.delayed -= 1;
                        self.raise(cost);
                    }
                }
                None
            }
            AttemptOutcome::Failure {
                kind: Kind::Throttled,
                hint,
            } => {
                self.update_refused(1.0);
                if !is_current {
                    return None;
                }
                self.lower(cost, hint, now())
            }
            // No refund for an attempt that started at another rate: it was charged a different time, or none.
            AttemptOutcome::NotBegun if is_current => {
                self.bucket.reduce_debt(self.time(cost));
                None
            }
            _ => None,
        }
    }
}

impl Paced for Adaptive {
    fn available(&self, now: Moment) -> f64 {
        if self.rate.is_infinite() {
            return f64::INFINITY;
        }
        1.0 - self.bucket.debt(now).as_secs_f64() * self.rate
    }

    fn can_evict(&self, new: &Self, is_unused: bool, now: Moment) -> bool {
        let is_as_set = self.most.total_cmp(&new.most).is_eq();
        is_as_set && (is_unused || self.lowered == 0 && self.bucket.debt(now).is_zero())
    }
}

/// The total cost of successes in the last one to two minutes.
#[derive(Clone, Copy, Debug)]
struct Throughput {
    cost: f64,
    since: Option<Moment>,
}

const MEMORY: Duration = Duration::from_secs(60);
const SECOND: Duration = Duration::from_secs(1);

impl Throughput {
    const NONE: Self = Self {
        cost: 0.0,
        since: None,
    };

    fn add(&mut self, cost: u32, now: Moment) {
        self.span(now);
        self.cost += f64::from(cost);
    }

    /// The time over which the cost was counted. After two minutes, the cost is reduced to that of one minute, at the
    /// average rate.
    fn span(&mut self, now: Moment) -> Duration {
        // The clock may run backwards.
        let since = self.since.filter(|since| *since <= now).unwrap_or(now);
        self.since = Some(since);
        let span = now.since(since);
        if span < 2 * MEMORY {
            return span;
        }
        self.cost *= MEMORY.as_secs_f64() / span.as_secs_f64();
        let since = now.since_origin().saturating_sub(MEMORY);
        self.since = Some(Moment::from_origin(since));
        MEMORY
    }

    fn per_second(&mut self, hint: Duration, now: Moment) -> f64 {
        let span = self.span(now);
        per_second(self.cost, span, hint)
    }
}

/// The cost per second, over `span` and the hint, because nothing succeeds until the hint has passed.
fn per_second(cost: f64, span: Duration, hint: Duration) -> f64 {
    let span = span.max(SECOND).saturating_add(hint);
    cost / span.as_secs_f64()
}
