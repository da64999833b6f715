use core::fmt;

use retry_classify::Kind;

use crate::budget::retry_budget::RetryBudget;
use crate::sync::{AtomicU64, Ordering::Relaxed};
use crate::time::clock;

/// Tokens that retries are paid from, shared by all calls that name it: the key `budget`.
///
/// While a service is well, its budget is full, and every failure is retried as the policy says. While it is down, the
/// budget runs empty, and calls end with their first error: the load stays that of the calls, in place of a multiple.
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
/// // 35 of 500 retries: each took 14 of 500 tokens.
/// assert_eq!(MODEL_API.available(), 10.0);
/// ```
///
/// A retry because of a value, one that `until` or `validate` rejects, costs nothing: the server answered, as it does to
/// calls that poll until a job is done. So does one after [`Verdict::INVALID`](crate::Verdict::INVALID).
///
/// Make one for each service that can fail by itself: each host, each provider, each tenant with a quota of its own. One
/// for two of them lets the failing one use up what the other needs; `Keyed` of `retry-protections` keeps them apart.
#[derive(Debug)]
pub struct Budget {
    rule: Rule,
    /// The tokens that are left, in billionths.
    tokens: AtomicU64,
    /// When tokens were added last for the time that passed, in nanoseconds of the clock; zero for never.
    filled: AtomicU64,
}

/// Numbers of tokens in billionths, so that decimal fractions add up exactly.
#[derive(Clone, Copy, Debug)]
struct Rule {
    capacity: u64,
    /// What a retry takes.
    cost: u64,
    throttled_cost: u64,
    /// What must be there for a retry.
    needed: u64,
    per_call: u64,
    per_success: u64,
    per_failure: u64,
    /// Whether a success gives back what its call's last retry took.
    gives_back: bool,
    /// Whether an answer that is final counts as a success.
    credits_answers: bool,
    per_second: u64,
}

/// A rule that takes nothing and gives nothing.
const NOTHING: Rule = Rule {
    capacity: 0,
    cost: 0,
    throttled_cost: 0,
    needed: 0,
    per_call: 0,
    per_success: 0,
    per_failure: 0,
    gives_back: false,
    credits_answers: false,
    per_second: 0,
};

const ONE: u64 = 1_000_000_000;

impl Budget {
    /// The budget of the AWS SDKs: 500 tokens. A retry takes 14, or 5 when the server throttles. A success after
    /// retries gives back what its last retry took, a success at once gives 1.
    ///
    /// An answer that is final, such as a 404, counts as a success, because the server is well. The SDKs themselves refill
    /// on a 2xx alone, so that a program whose lookups mostly find nothing runs out of retries: for this,
    /// [`credit_answers(false)`](Self::credit_answers).
    ///
    /// From [Retry Behavior 2.1](https://aws.amazon.com/blogs/developer/updated-default-retry-behavior-for-aws-sdks-and-tools/).
    pub const fn standard() -> Self {
        Self::of(Rule {
            capacity: 500 * ONE,
            cost: 14 * ONE,
            throttled_cost: 5 * ONE,
            per_success: ONE,
            gives_back: true,
            credits_answers: true,
            ..NOTHING
        })
    }

    /// A share of the calls: each call gives `ratio` tokens, each retry takes one. With 0.1, a service that is down gets a
    /// tenth more requests than there are calls, whatever `max` is.
    ///
    /// The budget starts full, with 100 tokens, and holds no more. A ratio below 0 counts as 0, one above 1000 as 1000.
    pub const fn ratio(ratio: f64) -> Self {
        Self::of(Rule {
            capacity: 100 * ONE,
            cost: ONE,
            throttled_cost: ONE,
            per_call: billionths(ratio, 1000.0),
            ..NOTHING
        })
    }

    /// The throttling of gRPC clients: a failed attempt takes a token, also the last of its call; a success gives `ratio`
    /// tokens; and there are retries while more than half of the tokens are there. Customary are 10 and 0.1.
    ///
    /// As specified, an answer that is final, such as `NOT_FOUND`, gives and takes nothing. If most answers are of that
    /// sort, let them count as successes: [`credit_answers(true)`](Self::credit_answers).
    ///
    /// From [gRFC A6](https://github.com/grpc/proposal/blob/master/A6-client-retries.md#throttling-retry-attempts-and-hedged-rpcs).
    pub const fn grpc(tokens: u32, ratio: f64) -> Self {
        let capacity = tokens as u64 * ONE;
        Self::of(Rule {
            capacity,
            needed: capacity / 2 + 1,
            per_success: billionths(ratio, 1000.0),
            per_failure: ONE,
            ..NOTHING
        })
    }

    /// Holds that many tokens at most, and starts with them.
    pub const fn capacity(mut self, tokens: u32) -> Self {
        self.rule.capacity = tokens as u64 * ONE;
        if self.rule.needed > 0 {
            self.rule.needed = self.rule.capacity / 2 + 1;
        }
        Self::of(self.rule)
    }

    /// Whether a call that ends with an error that is not worth a retry counts as a success: the server answered. Default
    /// true for [`standard`](Self::standard), false for [`grpc`](Self::grpc). To a [`ratio`](Self::ratio) it makes no
    /// difference: each call gives.
    ///
    /// ```
    /// use retry_runtime::{Budget, RetryBudget};
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

    /// Gives that many tokens each second, whatever happens. Default 0.
    ///
    /// Beware: what each client may always do, all clients do together. A thousand clients with one token per second keep
    /// a service down that can't bear a thousand requests more.
    pub const fn per_second(mut self, tokens: f64) -> Self {
        self.rule.per_second = billionths(tokens, 1e9);
        self
    }

    /// The tokens that are there.
    #[expect(clippy::cast_precision_loss, reason = "a number to show")]
    pub fn available(&self) -> f64 {
        self.fill();
        self.tokens.load(Relaxed) as f64 / ONE as f64
    }

    /// True if the budget holds all its tokens.
    pub fn is_full(&self) -> bool {
        self.fill();
        self.is_at_capacity()
    }

    const fn of(rule: Rule) -> Self {
        Self {
            rule,
            tokens: AtomicU64::new(rule.capacity),
            filled: AtomicU64::new(0),
        }
    }

    fn cost(&self, kind: Kind) -> u64 {
        match kind {
            Kind::Throttled => self.rule.throttled_cost,
            // The server is well: it answered with a value.
            Kind::Invalid => 0,
            _ => self.rule.cost,
        }
    }

    /// Returns true if the budget holds all its tokens. Checked before anything is given: while all goes well, nothing is
    /// written to memory that all threads share.
    #[inline]
    fn is_at_capacity(&self) -> bool {
        self.tokens.load(Relaxed) >= self.rule.capacity
    }

    #[inline]
    fn give(&self, tokens: u64) {
        if !self.is_at_capacity() {
            self.add(tokens);
        }
    }

    #[cold]
    fn add(&self, tokens: u64) {
        let more = |there: u64| Some(there.saturating_add(tokens).min(self.rule.capacity));
        let _ = self.tokens.fetch_update(Relaxed, Relaxed, more);
    }

    /// Adds what the time since the last look gives.
    fn fill(&self) {
        if self.rule.per_second == 0 {
            return;
        }
        let mut tokens = 0;
        // Who sets the time adds the tokens, so that no two threads add the same.
        let set = self.filled.fetch_update(Relaxed, Relaxed, |last| {
            // The clock is read after `last` was loaded, so `last` is not later, whichever thread set it.
            // Not zero, which is never.
            let now = clock::now().since_origin().as_nanos();
            let now = u64::try_from(now).unwrap_or(u64::MAX).max(1);
            // Counts from now at the first look, when it is full, and after the clock was set back.
            let begins = last == 0 || now < last;
            let passed = if begins { 0 } else { u128::from(now - last) };
            let brought = passed * u128::from(self.rule.per_second) / u128::from(ONE);
            tokens = u64::try_from(brought).unwrap_or(u64::MAX);
            (begins || tokens > 0).then_some(now)
        });
        if set.is_ok() {
            self.give(tokens);
        }
    }
}

impl RetryBudget for Budget {
    fn withdraw(&self, kind: Kind) -> bool {
        if kind == Kind::Invalid {
            return true;
        }
        self.fill();
        let cost = self.cost(kind);
        let needed = cost.max(self.rule.needed);
        let less = |there: u64| (there >= needed).then(|| there.saturating_sub(cost));
        self.tokens.fetch_update(Relaxed, Relaxed, less).is_ok()
    }

    fn refund(&self, kind: Kind) {
        self.give(self.cost(kind));
    }

    #[inline]
    fn called(&self) {
        self.give(self.rule.per_call);
    }

    #[inline]
    fn succeeded(&self, retried: Option<Kind>) {
        self.give(match retried {
            Some(kind) if self.rule.gives_back && kind != Kind::Invalid => self.cost(kind),
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
        // Before a token is taken: time gives nothing to what is full.
        self.fill();
        let less = |there: u64| Some(there.saturating_sub(self.rule.per_failure));
        let _ = self.tokens.fetch_update(Relaxed, Relaxed, less);
    }
}

/// Shows the tokens that are there, and how many it holds: `486 of 500 tokens`.
impl fmt::Display for Budget {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let capacity = self.rule.capacity / ONE;
        write!(f, "{} of {capacity} tokens", self.available())
    }
}

/// Rounded, since 0.1 is no binary fraction.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "within range: it is not negative, and at most 10¹⁸"
)]
const fn billionths(tokens: f64, most: f64) -> u64 {
    // In this order, so that what is not a number is nothing.
    (tokens.max(0.0).min(most) * 1e9 + 0.5) as u64
}
