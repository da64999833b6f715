use core::fmt;

use retry_classify::Kind;

use crate::budget::retry_budget::RetryBudget;
use crate::sync::{AtomicBool, Mutex, MutexGuard, Ordering::Relaxed, lock};
use crate::time::{Moment, clock};

/// A token bucket that pays for the retries of all calls that share it: the key `budget`.
///
/// While a service is healthy, its budget is full, and every failure is retried according to the policy. During an
/// outage, the budget runs out and calls end with their first error, so retries don't multiply the load.
///
/// ```
/// use retry_runtime::{Budget, Reason, retry};
///
/// static MODEL_API: Budget = Budget::standard();
///
/// #[retry(max = 5, backoff = "none", budget = &MODEL_API, on = |_| true)]
/// fn complete() -> Result<String, &'static str> {
///     Err("overloaded")
/// }
///
/// for _ in 0..100 {
///     assert!(complete().is_err());
/// }
/// // 35 of 500 retries were made: each cost 14 of 500 tokens.
/// assert_eq!(MODEL_API.available(), 10.0);
/// ```
///
/// A retry is free if `until` or `validate` rejected the value, or after [`Verdict::INVALID`](crate::Verdict::INVALID),
/// because the server answered.
///
/// Create one budget for each service that can fail independently: each host, provider, or tenant with its own quota.
/// If two of them share a budget, the failing one uses up the other's tokens. `Keyed` of `retry-protections` creates a
/// budget per key.
#[derive(Debug)]
pub struct Budget {
    rule: Rule,
    /// True if no token is missing. Outside the lock, because every call reads this flag.
    is_full: AtomicBool,
    tokens: Mutex<Tokens>,
}

#[derive(Debug)]
struct Tokens {
    /// The capacity minus the tokens left, in billionths of a token.
    missing: u64,
    /// The last time at which `per_second` added tokens.
    filled_at: Option<Moment>,
}

/// The settings. Tokens are counted in billionths, so that decimal fractions add up exactly.
#[derive(Clone, Copy, Debug)]
struct Rule {
    capacity: u64,
    /// The cost of a retry.
    cost: u64,
    throttled_cost: u64,
    /// The number of tokens that must be left for a retry.
    needed: u64,
    per_call: u64,
    per_success: u64,
    per_failure: u64,
    /// True if a success refunds its call's last retry.
    refunds_retry: bool,
    /// True if a final answer counts as a success.
    credits_answers: bool,
    per_second: u64,
}

/// A rule that neither charges nor adds tokens.
const NO_RULE: Rule = Rule {
    capacity: 0,
    cost: 0,
    throttled_cost: 0,
    needed: 0,
    per_call: 0,
    per_success: 0,
    per_failure: 0,
    refunds_retry: false,
    credits_answers: false,
    per_second: 0,
};

const TOKEN: u64 = 1_000_000_000;

impl Budget {
    /// The budget of the AWS SDKs: 500 tokens. A retry costs 14, or 5 after a throttled failure. A success after
    /// retries refunds the last retry, and a success on the first attempt adds 1.
    ///
    /// A final answer, such as a 404, counts as a success, because the server is healthy. The SDKs themselves refill
    /// only on a 2xx, so a program whose lookups mostly find nothing runs out of retries. For that behavior, write
    /// [`credit_answers(false)`](Self::credit_answers).
    ///
    /// From [Retry Behavior
    /// 2.1](https://aws.amazon.com/blogs/developer/updated-default-retry-behavior-for-aws-sdks-and-tools/).
    pub const fn standard() -> Self {
        Self::with_rule(Rule {
            capacity: 500 * TOKEN,
            cost: 14 * TOKEN,
            throttled_cost: 5 * TOKEN,
            per_success: TOKEN,
            refunds_retry: true,
            credits_answers: true,
            ..NO_RULE
        })
    }

    /// Limits retries to a share of the calls: each call adds `ratio` tokens, and each retry costs one. With 0.1, an
    /// outage increases the number of requests by a tenth, regardless of `max`.
    ///
    /// The budget starts full, with 100 tokens, which is also its capacity. A ratio below 0 counts as 0, and one above
    /// 1000 as 1000.
    pub const fn ratio(ratio: f64) -> Self {
        Self::with_rule(Rule {
            capacity: 100 * TOKEN,
            cost: TOKEN,
            throttled_cost: TOKEN,
            per_call: billionths(ratio, 1000.0),
            ..NO_RULE
        })
    }

    /// Limits retries as gRPC clients do: each failed attempt costs one token, even a call's last one; a success adds
    /// `ratio` tokens; calls retry only while more than half of the tokens are left. Usual values are 10 and 0.1.
    ///
    /// As specified, a final answer, such as `NOT_FOUND`, changes nothing. If most of your answers are final, count
    /// them as successes with [`credit_answers(true)`](Self::credit_answers).
    ///
    /// From [gRFC A6](https://github.com/grpc/proposal/blob/master/A6-client-retries.md#throttling-retry-attempts-and-hedged-rpcs).
    pub const fn grpc(tokens: u32, ratio: f64) -> Self {
        let capacity = tokens as u64 * TOKEN;
        Self::with_rule(Rule {
            capacity,
            needed: capacity / 2 + 1,
            per_success: billionths(ratio, 1000.0),
            per_failure: TOKEN,
            ..NO_RULE
        })
    }

    /// Sets the capacity in tokens. The budget starts full.
    pub const fn capacity(mut self, tokens: u32) -> Self {
        self.rule.capacity = tokens as u64 * TOKEN;
        if self.rule.needed > 0 {
            self.rule.needed = self.rule.capacity / 2 + 1;
        }
        self
    }

    /// Sets whether a call counts as a success if it ends with an error that is not worth a retry, because the server
    /// answered. Default true for [`standard`](Self::standard), false for [`grpc`](Self::grpc). It has no effect on a
    /// [`ratio`](Self::ratio) budget, which counts calls and not successes.
    ///
    /// ```
    /// use retry_runtime::seam::RetryBudget;
    /// use retry_runtime::Budget;
    ///
    /// let budget = Budget::grpc(10, 0.5).credit_answers(true);
    /// budget.failed(retry_runtime::Kind::Transient);
    /// budget.answered(None);
    /// assert_eq!(budget.available(), 9.5);
    /// ```
    pub const fn credit_answers(mut self, credits: bool) -> Self {
        self.rule.credits_answers = credits;
        self
    }

    /// Adds this number of tokens per second, regardless of the calls. Default 0.
    ///
    /// Every client process adds its own tokens. With one token per second, a thousand clients send up to a thousand
    /// retries per second during an outage, which can keep the service down.
    pub const fn per_second(mut self, tokens: f64) -> Self {
        self.rule.per_second = billionths(tokens, 1e9);
        self
    }

    /// The number of tokens left.
    #[expect(clippy::cast_precision_loss, reason = "only for display")]
    pub fn available(&self) -> f64 {
        self.tokens_left(&self.refill()) as f64 / TOKEN as f64
    }

    /// Returns true if the budget is full.
    pub fn is_full(&self) -> bool {
        self.refill().missing == 0
    }

    const fn with_rule(rule: Rule) -> Self {
        Self {
            rule,
            is_full: AtomicBool::new(true),
            tokens: Mutex::new(Tokens {
                missing: 0,
                filled_at: None,
            }),
        }
    }

    fn cost(&self, kind: Kind) -> u64 {
        match kind {
            Kind::Throttled => self.rule.throttled_cost,
            // The server is healthy: it answered with a value.
            Kind::Invalid => 0,
            _ => self.rule.cost,
        }
    }

    fn tokens_left(&self, tokens: &Tokens) -> u64 {
        self.rule.capacity.saturating_sub(tokens.missing)
    }

    fn set_missing(&self, tokens: &mut Tokens, missing: u64) {
        tokens.missing = missing;
        self.is_full.store(missing == 0, Relaxed);
    }

    /// Adds tokens. If the budget is full, only reads a flag, so that successful calls don't write to memory that all
    /// threads share.
    #[inline]
    fn credit(&self, tokens: u64) {
        if !self.is_full.load(Relaxed) {
            self.add(&mut lock(&self.tokens), tokens);
        }
    }

    #[cold]
    fn add(&self, tokens: &mut Tokens, more: u64) {
        self.set_missing(tokens, tokens.missing.saturating_sub(more));
    }

    /// Locks the tokens, and adds those for the time since the last call of this function.
    fn refill(&self) -> MutexGuard<'_, Tokens> {
        let mut tokens = lock(&self.tokens);
        if self.rule.per_second > 0 {
            let now = clock::now();
            let passed = tokens.filled_at.and_then(|last| now.checked_since(last));
            let accrued = passed.map(|passed| {
                let accrued = passed
                    .as_nanos()
                    .saturating_mul(self.rule.per_second.into());
                u64::try_from(accrued / u128::from(TOKEN)).unwrap_or(u64::MAX)
            });
            // On the first call, and after the clock was set back, only restart the measurement. A time too short to
            // add anything counts later.
            if accrued != Some(0) {
                tokens.filled_at = Some(now);
                self.add(&mut tokens, accrued.unwrap_or(0));
            }
        }
        tokens
    }
}

impl RetryBudget for Budget {
    fn withdraw(&self, kind: Kind) -> bool {
        if kind == Kind::Invalid {
            return true;
        }
        let mut tokens = self.refill();
        let cost = self.cost(kind);
        let pays = self.tokens_left(&tokens) >= cost.max(self.rule.needed);
        if pays {
            let missing = tokens.missing + cost;
            self.set_missing(&mut tokens, missing);
        }
        pays
    }

    fn refund(&self, kind: Kind) {
        self.credit(self.cost(kind));
    }

    #[inline]
    fn called(&self) {
        self.credit(self.rule.per_call);
    }

    #[inline]
    fn succeeded(&self, retried: Option<Kind>) {
        self.credit(match retried {
            Some(kind) if self.rule.refunds_retry && kind != Kind::Invalid => self.cost(kind),
            _ => self.rule.per_success,
        });
    }

    fn answered(&self, retried: Option<Kind>) {
        if self.rule.credits_answers {
            self.succeeded(retried);
        }
    }

    fn failed(&self, kind: Kind) {
        if self.rule.per_failure == 0 || kind == Kind::Invalid {
            return;
        }
        // Before taking a token: the time while the budget was full must not pay for that token.
        let mut tokens = self.refill();
        let missing = tokens.missing + self.tokens_left(&tokens).min(self.rule.per_failure);
        self.set_missing(&mut tokens, missing);
    }
}

/// Shows the tokens left and the capacity: `486 of 500 tokens`.
impl fmt::Display for Budget {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let capacity = self.rule.capacity / TOKEN;
        write!(f, "{} of {capacity} tokens", self.available())
    }
}

/// Converts to billionths. Rounds, because 0.1 is not exact in binary.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "in range: at least 0, and at most 10¹⁸"
)]
const fn billionths(tokens: f64, most: f64) -> u64 {
    // In this order, so that NaN becomes zero.
    (tokens.max(0.0).min(most) * 1e9 + 0.5) as u64
}
