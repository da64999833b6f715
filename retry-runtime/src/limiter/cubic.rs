use core::time::Duration;

use crate::classify::kind::Kind;
use crate::limiter::gate::{Gate, Now};
use crate::limiter::paced::Paced;
use crate::limiter::{End, LimiterChange};
use crate::time::moment::Moment;

/// The rate of the AWS SDKs' adaptive mode: made by [`RateLimiter::cubic`](crate::RateLimiter::cubic).
#[derive(Clone, Copy, Debug)]
pub struct Cubic {
    /// Whether the rate holds anything back: from the first refusal on.
    is_on: bool,
    /// Attempts per second.
    rate: f64,
    tokens: f64,
    /// How many tokens there are at most.
    capacity: f64,
    /// When tokens were last added.
    filled: Option<Moment>,
    measured: AnswerRate,
    /// The rate at the last refusal.
    highest: f64,
    /// When that was.
    refused: Option<Moment>,
}

/// What a refusal leaves of the rate.
const BETA: f64 = 0.7;
/// How steeply the rate rises.
const SCALE: f64 = 0.4;
const LEAST_RATE: f64 = 0.5;
const LEAST_CAPACITY: f64 = 1.0;

impl Cubic {
    pub(super) const fn new() -> Self {
        Self {
            is_on: false,
            rate: LEAST_RATE,
            tokens: 0.0,
            capacity: f64::MAX,
            filled: None,
            measured: AnswerRate::NOTHING,
            highest: 0.0,
            refused: None,
        }
    }

    fn tokens(&self, now: Moment) -> f64 {
        let since = self.filled.map_or(Duration::ZERO, |at| now.since(at));
        let brought = since.as_secs_f64() * self.rate;
        (self.tokens + brought).min(self.capacity)
    }

    fn fill(&mut self, now: Moment) {
        self.tokens = self.tokens(now);
        self.filled = Some(now);
    }

    /// After an answer, or a refusal.
    fn update(&mut self, is_refused: bool, now: Moment) {
        let measured = self.measured.answered(now);
        let rate = if is_refused {
            self.highest = if self.is_on {
                measured.min(self.rate)
            } else {
                measured
            };
            self.refused = Some(now);
            self.is_on = true;
            self.highest * BETA
        } else {
            let since = self.refused.map_or(Duration::ZERO, |at| now.since(at));
            cubic(self.highest, since)
        };
        let rate = rate.min(2.0 * measured);
        self.fill(now);
        self.rate = rate.max(LEAST_RATE);
        self.capacity = rate.max(LEAST_CAPACITY);
        self.tokens = self.tokens.min(self.capacity);
    }
}

/// The rate so long after a refusal at that rate.
fn cubic(highest: f64, since: Duration) -> f64 {
    let until_highest = (highest * (1.0 - BETA) / SCALE).cbrt();
    SCALE * (since.as_secs_f64() - until_highest).powi(3) + highest
}

impl Gate for Cubic {
    fn per_second(&self) -> Option<f64> {
        Some(if self.is_on { self.rate } else { f64::INFINITY })
    }

    #[inline]
    fn admit(&mut self, cost: u32, now: impl Now) -> Result<u32, Option<Duration>> {
        if !self.is_on {
            return Ok(0);
        }
        self.fill(now());
        // What costs more than it ever holds takes all.
        let cost = f64::from(cost).min(self.capacity);
        let missing = ((cost - self.tokens) / self.rate).max(0.0);
        // What a nanosecond brings is there, or rounding would have the attempt ask again and again.
        let missing = Duration::try_from_secs_f64(missing).unwrap_or(Duration::MAX);
        if missing > Duration::from_nanos(1) {
            return Err(Some(missing));
        }
        self.tokens = (self.tokens - cost).max(0.0);
        Ok(0)
    }

    fn ended(&mut self, cost: u32, _: u32, end: End, now: impl Now) -> Option<LimiterChange> {
        let is_refused = match end {
            End::Success => false,
            End::Failure { kind, .. } => kind == Kind::Throttled,
            End::Ignored => return None,
            End::NotBegun => {
                self.tokens = (self.tokens + f64::from(cost)).min(self.capacity);
                return None;
            }
        };
        self.update(is_refused, now());
        is_refused.then_some(LimiterChange::Rate(self.rate))
    }
}

impl Paced for Cubic {
    fn available(&self, now: Moment) -> f64 {
        if self.is_on {
            self.tokens(now)
        } else {
            f64::INFINITY
        }
    }

    fn is_at_rest(&self, _: &Self, is_unused: bool, _: Moment) -> bool {
        is_unused || !self.is_on
    }
}

/// Answers per second, smoothed over half seconds.
#[derive(Clone, Copy, Debug)]
struct AnswerRate {
    per_second: f64,
    answers: f64,
    /// The number of the last half second, counted from the clock's origin.
    half: Option<u128>,
}

const HALF: Duration = Duration::from_millis(500);
const SMOOTH: f64 = 0.8;

impl AnswerRate {
    const NOTHING: Self = Self {
        per_second: 0.0,
        answers: 0.0,
        half: None,
    };

    /// Counts an answer. Returns how many there were per second.
    fn answered(&mut self, now: Moment) -> f64 {
        self.answers += 1.0;
        let half = now.since_origin().as_nanos() / HALF.as_nanos();
        let last = *self.half.get_or_insert(half);
        // Where the clock ran backwards, it counts until that has caught up, or from now if that is long.
        let passed = half.checked_sub(last).filter(|passed| *passed > 0);
        if let Some(passed) = passed {
            let span = HALF.as_secs_f64() * u32::try_from(passed).map_or(f64::MAX, f64::from);
            let now = self.answers / span;
            self.per_second = now * SMOOTH + self.per_second * (1.0 - SMOOTH);
            self.answers = 0.0;
            self.half = Some(half);
        }
        self.per_second
    }
}

/// Numbers published with the SDKs' own tests.
#[cfg(test)]
mod tests {
    use super::*;

    fn at(seconds: f64) -> Moment {
        Moment::from_origin(Duration::from_secs_f64(seconds))
    }

    fn since_start() -> Cubic {
        let mut cubic = Cubic::new();
        cubic.measured.half = Some(0);
        cubic
    }

    fn close(left: f64, right: f64) -> bool {
        (left - right).abs() <= 1e-9 * right.abs().max(1.0)
    }

    /// smithy-rs `client_rate_limiter.rs`, `test_calculated_rate_with_successes`.
    #[test]
    fn successes() {
        let rates = [
            7.0,
            9.648_936_009_66,
            10.000_030_849_917_364,
            10.453_284_520_772_092,
            13.408_697_022_224_185,
            21.266_268_354_273_64,
            36.425_998_516_920_465,
        ];
        for (seconds, rate) in (0..).zip(rates) {
            let calculated = cubic(10.0, Duration::from_secs(seconds));
            assert!(close(calculated, rate), "{seconds} s: {calculated}");
        }
    }

    /// smithy-kotlin `AdaptiveRateLimiterTest`, where the highest rate is the one before the refusal, as in botocore.
    #[test]
    fn successes_and_refusals() {
        let steps = [
            (false, 7.0),
            (false, 9.648_936_009_66),
            (true, 6.754_255_206_761_999),
            (true, 4.727_978_644_733_399),
            (false, 6.606_547_753_887_045),
            (false, 6.763_279_816_944_947),
            (false, 7.598_174_833_907_107),
            (false, 11.511_232_804_773_524),
        ];
        let (mut highest, mut refused, mut rate) = (10.0, 5, 0.0);
        for (seconds, (is_refused, expected)) in (5..).zip(steps) {
            if is_refused {
                (highest, refused) = (rate, seconds);
                rate *= BETA;
            } else {
                rate = cubic(highest, Duration::from_secs(seconds - refused));
            }
            assert!(close(rate, expected), "{seconds} s: {rate}");
        }
    }

    /// smithy-rs `client_rate_limiter.rs`, smithy-kotlin, and aws-sdk-go-v2 `adaptive_ratelimit_test.go`: time in
    /// tenths of a second, whether it was refused, the rate of answers, the rate.
    #[test]
    fn end_to_end() {
        let steps = [
            (2, false, 0.0, 0.5),
            (4, false, 0.0, 0.5),
            (6, false, 4.8, 0.5),
            (8, false, 4.8, 0.5),
            (10, false, 4.16, 0.5),
            (12, false, 4.16, 0.6912),
            (14, false, 4.16, 1.0976),
            (16, false, 5.632, 1.6384),
            (18, false, 5.632, 2.3328),
            (20, true, 4.3264, 3.02848),
            (22, false, 4.3264, 3.486_639_173_470_26),
            (24, false, 4.3264, 3.821_874_416_040_255),
            (26, false, 5.665_28, 4.053_385_727_709_987),
            (28, false, 5.665_28, 4.200_373_108_479_454),
            (30, false, 4.333_056, 4.282_036_558_348_658),
            (32, true, 4.333_056, 2.997_425_590_844_06),
            (34, false, 4.333_056, 3.452_226_394_386_346_3),
        ];
        let mut cubic = since_start();
        cubic.refused = Some(at(0.0));
        for (tenths, is_refused, measured, rate) in steps {
            let now = Moment::from_origin(Duration::from_millis(100 * tenths));
            cubic.update(is_refused, now);
            let (got, at) = (cubic.measured.per_second, tenths);
            assert!(close(got, measured), "{at}: {got}");
            assert!(close(cubic.rate, rate), "{at}: {}", cubic.rate);
        }
    }

    /// botocore `test_throttling.py`.
    #[test]
    fn after_a_refusal() {
        assert!(close(cubic(10.0, Duration::ZERO), 7.0));
        assert!(close(cubic(8.0, Duration::ZERO), 5.6));
        let highest_again = Duration::from_secs_f64(1.957_433_820_584_431_7);
        assert!(close(cubic(10.0, highest_again), 10.0));
    }

    /// botocore `test_adaptive.py`, `TestRateClocker`.
    #[test]
    fn measured_rates() {
        let since_start = AnswerRate {
            half: Some(0),
            ..AnswerRate::NOTHING
        };
        let mut measured = since_start;
        assert!(close(measured.answered(at(1.0)), 0.8));
        let rates = (2_u32..=20).map(|seconds| measured.answered(at(seconds.into())));
        assert!((rates.last().expect("some") - 1.0).abs() < 1e-6);

        let mut measured = since_start;
        let rates = (2_u32..=8).map(|halves| measured.answered(at(f64::from(halves) / 2.0)));
        assert!((1.99..=2.0).contains(&rates.last().expect("some")));
        assert!((0.1..=2.0).contains(&measured.answered(at(14.0))));

        let mut measured = since_start;
        for tenths in 1..=5 {
            assert!(close(measured.answered(at(0.08 * f64::from(tenths))), 0.0));
        }
        assert!(close(measured.answered(at(0.5)), 12.0 * 0.8));
    }

    /// smithy-typescript `DefaultRateLimiter.spec.ts`, `getSendToken`: when it was refused, and the wait, in
    /// milliseconds.
    #[test]
    fn the_first_after_a_refusal_waits() {
        for (refused, wait) in [(500, 892.857), (1000, 1_785.714), (2000, 2_000.0)] {
            let now = Moment::from_origin(Duration::from_millis(refused));
            let mut cubic = since_start();
            cubic.update(true, now);
            let waits = cubic.admit(1, || now).expect_err("nothing gathered yet");
            let waits = waits.expect("a time").as_secs_f64() * 1e3;
            assert!((waits - wait).abs() < 1e-3, "{refused}: {waits}");
        }
    }

    /// smithy-rs `client_rate_limiter.rs`: who waits takes nothing, all wait equally long, and a shortfall by rounding
    /// is none.
    #[test]
    fn who_waits_takes_nothing() {
        let mut cubic = since_start();
        cubic.update(true, at(0.0));
        for _ in 0..10 {
            let wait = cubic.admit(1, || at(0.1));
            assert_eq!(wait, Err(Some(Duration::from_millis(1900))));
            assert!(close(cubic.tokens, 0.05));
        }
        assert_eq!(cubic.admit(1, || at(2.1)), Ok(0));
        assert!(close(cubic.tokens, 0.0));

        cubic.tokens = 1.0 - 1e-12;
        assert_eq!(cubic.admit(1, || at(2.1)), Ok(0));
        assert!(cubic.tokens >= 0.0);
    }
}
