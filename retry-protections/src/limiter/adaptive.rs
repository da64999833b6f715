use std::time::Duration;

use retry_runtime::{AttemptOutcome, Change, Kind, Moment};

use crate::limiter::debt::Debt;
use crate::limiter::gate::{Gate, Now};
use crate::limiter::paced::Paced;

/// A rate that refusals lower and successes raise: made by [`RateLimiter::adaptive`](crate::RateLimiter::adaptive).
#[derive(Clone, Copy, Debug)]
pub struct Adaptive {
    least: f64,
    most: f64,
    /// Per second; infinite until a refusal lowers it.
    rate: f64,
    /// The last rate at which anything got through; infinite while none is known. Below it, the rate rises fast.
    good: f64,
    debt: Debt,
    /// How often refusals or an operator lowered the rate. Refused attempts that began before the last of them say
    /// nothing new.
    lowered: u32,
    /// What got through since then.
    through_since: f64,
    /// When the server let it.
    lowered_at: Moment,
    /// What got through since more than [`FEW`] were refused.
    steady: Through,
    /// The most that this ever was per second.
    highest: f64,
    /// The share of refusals, of some [`SHARED`] attempts.
    refused: f64,
    /// How many attempts had to wait. The rate rises for only as many successes, so not while nobody needs it.
    delayed: u32,
    through: Through,
}

/// What a refusal leaves of what got through.
const LOWERED: f64 = 0.9;
/// What a success adds.
const RAISED: f64 = 1.002;
/// What refusals leave of the highest rate at least, while they are few: some servers refuse whatever the rate is, and
/// each refusal would lower it further. Half is what TCP leaves of a window after a loss.
const KEPT: f64 = 0.5;
/// More refusals than this share are taken as a limit that has become lower.
const FEW: f64 = 0.2;
/// The number of attempts over which the share of refusals is averaged.
const SHARED: f64 = 64.0;
/// The longest time from one attempt to the next. So a rate that is far too low is noticed.
const LONGEST_GAP: Duration = Duration::from_secs(60);

impl Adaptive {
    pub(super) const fn new() -> Self {
        Self {
            least: f64::MIN_POSITIVE,
            most: f64::INFINITY,
            rate: f64::INFINITY,
            good: f64::INFINITY,
            debt: Debt::NONE,
            lowered: 0,
            through_since: 0.0,
            lowered_at: Moment::from_origin(Duration::ZERO),
            steady: Through::NOTHING,
            highest: 0.0,
            refused: 0.0,
            delayed: 0,
            through: Through::NOTHING,
        }
    }

    pub(super) const fn start(self, rate: f64) -> Self {
        Self { rate, ..self }.bounded()
    }

    pub(super) const fn least(self, least: f64) -> Self {
        // Also where it is not a number.
        let least = least.max(f64::MIN_POSITIVE);
        Self { least, ..self }.bounded()
    }

    pub(super) const fn most(self, most: f64) -> Self {
        let most = most.max(f64::MIN_POSITIVE);
        Self { most, ..self }.bounded()
    }

    /// While it is used. What began at a higher rate was charged less than it would give back.
    pub(super) fn set_most(&mut self, most: f64) {
        let before = self.rate;
        *self = self.most(most);
        if self.rate < before {
            self.lowered = self.lowered.wrapping_add(1);
        }
    }

    const fn bounded(self) -> Self {
        Self {
            rate: within(self.rate, self.least, self.most),
            ..self
        }
    }

    fn time(&self, cost: u32) -> Duration {
        time(f64::from(cost), self.rate).min(LONGEST_GAP)
    }

    fn lower(&mut self, cost: u32, hint: Option<Duration>, now: Moment) -> Option<Change> {
        let hint = hint.unwrap_or_default().min(REMEMBERED);
        let rate = if self.refused <= FEW && !self.through.is_nothing() {
            self.without_few(hint, now)?
        } else {
            (self.highest, self.steady) = (0.0, Through::NOTHING);
            self.got_through(cost, hint, now)
        };
        let is_first = self.rate.is_infinite();
        self.rate = within(rate.min(self.rate), self.least, self.most);
        // Without anything through, the last good rate is as good as it was.
        if self.through_since > 0.0 {
            // What got through before the first refusal was perhaps all that was asked for, unless it came at once.
            let is_burst = self.through.span(now) <= hint.max(SECOND);
            self.good = if is_first && !is_burst {
                f64::INFINITY
            } else {
                self.rate
            };
        }
        self.through_since = 0.0;
        self.lowered_at = now.checked_add(hint).unwrap_or(now);
        self.lowered = self.lowered.wrapping_add(1);
        self.delayed = 0;
        // The refused attempt has had its turn.
        let time = self.time(cost);
        self.debt.at_least(time);
        Some(Change::Rate(self.rate))
    }

    /// What a refusal leaves that is one of few: the more they are, the less. An unlimited rate stays so while it is
    /// not known, and where the server says by itself how long to wait.
    fn without_few(&mut self, hint: Duration, now: Moment) -> Option<f64> {
        if self.steady.span(now) >= SECOND {
            let through = self.steady.per_second(Duration::ZERO, now);
            self.highest = self.highest.max(through);
        }
        let lowered = if self.rate.is_finite() && hint.is_zero() {
            self.got_through(0, hint, now)
        } else if self.rate.is_finite() {
            self.rate * LOWERED
        } else if hint.is_zero() && self.highest > 0.0 {
            0.0
        } else {
            return None;
        };
        let kept = (1.0 - 2.0 * self.refused).clamp(KEPT, LOWERED);
        Some(lowered.max(self.highest * kept))
    }

    /// What a refusal leaves that is one of many: less than what got through.
    fn got_through(&mut self, cost: u32, hint: Duration, now: Moment) -> f64 {
        let since = per_second(self.through_since, now.since(self.lowered_at), hint);
        let through = self.through.per_second(hint, now).max(since);
        if through > 0.0 {
            self.rate.min(through) * LOWERED
        } else {
            // Nothing is known: at first one of the sort per second.
            (self.rate * LOWERED).min(f64::from(cost.max(1)))
        }
    }

    /// Counts an attempt that was refused, or was not.
    fn answered(&mut self, refused: f64) {
        self.refused += (refused - self.refused) / SHARED;
    }

    fn raise(&mut self, cost: u32) {
        let rate = if self.rate < self.good {
            (self.rate + f64::from(cost)).min(self.good)
        } else {
            self.rate * RAISED
        };
        self.rate = within(rate, self.least, self.most);
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
        self.debt.pay(now);
        let wait = self.debt.wait(time, time, now);
        if !wait.is_zero() {
            self.debt.defer(wait, now);
            return Err(Some(wait));
        }
        if self.debt.charge(time, now) {
            self.delayed = self.delayed.saturating_add(1);
        }
        Ok(self.lowered)
    }

    #[inline]
    fn ended(
        &mut self,
        cost: u32,
        stamp: u32,
        outcome: AttemptOutcome,
        now: impl Now,
    ) -> Option<Change> {
        let is_current = stamp == self.lowered;
        match outcome {
            AttemptOutcome::Success => {
                self.answered(0.0);
                let now = now();
                self.through.add(cost, now);
                self.steady.add(cost, now);
                if is_current {
                    self.through_since += f64::from(cost);
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
                self.answered(1.0);
                if !is_current {
                    return None;
                }
                let now = now();
                self.debt.pay(now);
                self.lower(cost, hint, now)
            }
            // What began at another rate was charged otherwise, if at all.
            AttemptOutcome::NotBegun if is_current => {
                self.debt.forgive(self.time(cost));
                None
            }
            AttemptOutcome::Failure { .. }
            | AttemptOutcome::Ignored
            | AttemptOutcome::Dropped
            | AttemptOutcome::NotBegun => None,
        }
    }
}

impl Paced for Adaptive {
    fn available(&self, now: Moment) -> f64 {
        if self.rate.is_infinite() {
            return f64::INFINITY;
        }
        1.0 - self.debt.owed(now).as_secs_f64() * self.rate
    }

    fn is_at_rest(&self, new: &Self, is_unused: bool, now: Moment) -> bool {
        let is_as_set = self.most.total_cmp(&new.most).is_eq();
        is_as_set && (is_unused || self.lowered == 0 && self.debt.owed(now).is_zero())
    }
}

/// What got through in the last minute or two.
#[derive(Clone, Copy, Debug)]
struct Through {
    cost: f64,
    since: Option<Moment>,
}

const REMEMBERED: Duration = Duration::from_secs(60);
const SECOND: Duration = Duration::from_secs(1);

impl Through {
    const NOTHING: Self = Self {
        cost: 0.0,
        since: None,
    };

    fn add(&mut self, cost: u32, now: Moment) {
        self.span(now);
        self.cost += f64::from(cost);
    }

    const fn is_nothing(&self) -> bool {
        self.since.is_none()
    }

    /// For how long it was counted. From time to time, the last minute's average replaces all before it.
    fn span(&mut self, now: Moment) -> Duration {
        let since = *self.since.get_or_insert(now);
        let Some(span) = now.checked_since(since) else {
            // The clock ran backwards.
            self.since = Some(now);
            return Duration::ZERO;
        };
        if span < 2 * REMEMBERED {
            return span;
        }
        self.cost *= REMEMBERED.as_secs_f64() / span.as_secs_f64();
        let since = now.since_origin().saturating_sub(REMEMBERED);
        self.since = Some(Moment::from_origin(since));
        REMEMBERED
    }

    fn per_second(&mut self, hint: Duration, now: Moment) -> f64 {
        let span = self.span(now);
        per_second(self.cost, span, hint)
    }
}

/// What got through in that time, as a rate, if nothing more does until the hint has passed.
fn per_second(cost: f64, span: Duration, hint: Duration) -> f64 {
    let span = span.max(SECOND).saturating_add(hint);
    cost / span.as_secs_f64()
}

/// The rate, or the bound that it is beyond. Bounds may exclude each other, or be no numbers.
const fn within(rate: f64, least: f64, most: f64) -> f64 {
    rate.min(most).max(least)
}

/// How long that takes at that rate.
fn time(cost: f64, rate: f64) -> Duration {
    Duration::try_from_secs_f64(cost / rate).unwrap_or(Duration::MAX)
}
