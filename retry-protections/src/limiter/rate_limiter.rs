use std::fmt;
use std::time::Duration;

use retry_runtime::WithCost;
use retry_runtime::macro_support::{Remembers, changed};

use crate::clock;
use crate::keyed::Rest;
use crate::limiter::adaptive::Adaptive;
use crate::limiter::paced::Paced;
use crate::limiter::queue::Queue;
use crate::limiter::quota::Quota;
use crate::limiter::remaining::remaining;
use crate::out_of_range::OutOfRange;

/// Bounds how many attempts begin per second: the key `limiter`.
///
/// For servers that refuse what comes too fast, such as model APIs. Attempts wait for their turn in the order in which
/// they came, so there are few refusals to retry.
///
/// ```
/// use retry_protections::RateLimiter;
/// use retry_runtime::retry;
///
/// static MODEL_API: RateLimiter = RateLimiter::adaptive();
///
/// #[retry(max = 5, limiter = &MODEL_API)]
/// async fn complete(prompt: &str) -> std::io::Result<String> {
///     Ok(format!("an answer to {prompt}"))
/// }
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> std::io::Result<()> {
/// complete("a question").await?;
/// // Nothing was refused so far.
/// assert_eq!(MODEL_API.to_string(), "not limited, 0 waiting");
/// # Ok(())
/// # }
/// ```
///
/// | made by | the rate | type |
/// |---|---|---|
/// | [`adaptive`](Self::adaptive) | found by trying | `RateLimiter` |
/// | [`quota`](Self::quota) | known: requests and tokens per minute | `RateLimiter<Quota>` |
/// | [`fixed`](Self::fixed) | known: an amount per period | `RateLimiter<Quota>` |
/// | [`leased`](Self::leased) | reckoned elsewhere | `RateLimiter<Leased>` |
///
/// An attempt costs 1, or what [`cost`](Self::cost) says: `limiter = MODEL_API.cost(tokens)`. Rates are in costs per
/// second.
///
/// Make one for each limit that the server has: usually one for each key and model. [`Keyed`](crate::Keyed) keeps them
/// apart.
#[derive(Debug)]
pub struct RateLimiter<By = Adaptive>(pub(super) Queue<By>);

impl RateLimiter {
    /// Finds the rate that the server can take. There is no limit until it refuses as `Throttled` what came first, more
    /// than a fifth of the attempts, or, after a second of answers, something without saying how long to wait. Each
    /// refusal sets the rate to nine tenths of what got through in the last minute or two, or of the rate before,
    /// whichever is less.
    ///
    /// Each success that had to wait raises the rate by a five-hundredth, or faster while it is below the last one at
    /// which anything got through. Refused attempts that began before the rate was last lowered change nothing. If the
    /// server says how long to wait, nothing begins for that long.
    ///
    /// Some servers also refuse for other reasons, whatever the rate is. While they refuse no more than a fifth of the
    /// attempts, refusals lower the rate to no less than nine tenths of the most that got through per second, or, of
    /// many, to less by twice their share. If such a server says how long to wait, refusals only lower the rate by a
    /// tenth.
    ///
    /// A rate that is far too low doesn't last: an attempt begins at least once a minute.
    ///
    /// Additive increase and multiplicative decrease come from [TCP](https://www.rfc-editor.org/rfc/rfc5681), applied
    /// to the rate instead of the window. Bounding the rate by what was measured comes from the
    /// adaptive mode of the [AWS SDKs](https://docs.aws.amazon.com/sdkref/latest/guide/feature-retry-behavior.html).
    pub const fn adaptive() -> Self {
        Self(Queue::new(Adaptive::new()))
    }

    /// The rate at first. Default none: no limit until refusals set one.
    pub const fn start(mut self, per_second: f64) -> Self {
        self.0.replace(self.0.new.start(per_second));
        self
    }

    /// The lowest rate. Default none.
    pub const fn least(mut self, per_second: f64) -> Self {
        self.0.replace(self.0.new.least(per_second));
        self
    }

    /// The highest rate, also before the first refusal. Default none. If it is below `least`, `least` counts.
    ///
    /// An attempt begins once a minute all the same. If that is too often, or its cost takes longer, you know the
    /// limit: use [`fixed`](Self::fixed).
    pub const fn most(mut self, per_second: f64) -> Self {
        self.0.replace(self.0.new.most(per_second));
        self
    }

    /// Changes the highest rate from now on: for an operator, to slow calls down at once. Infinite is none. Has an
    /// `INFO` in the log. Fails and changes nothing if it is not above 0.
    ///
    /// ```
    /// use retry_protections::RateLimiter;
    ///
    /// static MODEL_API: RateLimiter = RateLimiter::adaptive();
    ///
    /// // From an admin endpoint:
    /// assert!(MODEL_API.set_most(2.5).is_ok());
    /// assert_eq!(MODEL_API.rate(), 2.5);
    /// ```
    pub fn set_most(&self, per_second: f64) -> Result<(), OutOfRange> {
        if per_second.is_nan() || per_second <= 0.0 {
            return Err(OutOfRange);
        }
        self.0.with(|gate| gate.set_most(per_second));
        changed("highest rate per second", &per_second);
        Ok(())
    }
}

impl RateLimiter<Quota> {
    /// Known limits: requests and tokens per minute. An attempt takes one request, and its [`cost`](Self::cost) in
    /// tokens.
    ///
    /// Both are taken together, evenly over the minute: with 60 requests, one each second. [`burst`](Self::burst) lets
    /// more begin at once after a lull. An attempt that costs more tokens than a burst holds begins when all are there,
    /// and those after it wait for the rest.
    ///
    /// How many tokens an answer takes is known only afterwards. Report it, because most estimates are far too high:
    ///
    /// ```
    /// use retry_protections::{Quota, RateLimiter};
    /// use retry_runtime::retry;
    ///
    /// static MODEL_API: RateLimiter<Quota> = RateLimiter::quota(60, 90_000);
    ///
    /// struct Answer {
    ///     tokens: u32,
    /// }
    ///
    /// #[retry(max = 5, limiter = MODEL_API.cost(estimate))]
    /// async fn complete(prompt: &str, estimate: u32) -> std::io::Result<Answer> {
    ///     let answer = Answer { tokens: 400 };
    ///     MODEL_API.settle(estimate, answer.tokens);
    ///     Ok(answer)
    /// }
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> std::io::Result<()> {
    /// complete("a question", 1000).await?;
    /// assert!(MODEL_API.available() < 1500.0);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// At least one request and one token.
    pub const fn quota(requests: u32, tokens: u32) -> Self {
        let minute = Duration::from_secs(60);
        Self(Queue::new(Quota::new(Some(requests), tokens, minute)))
    }

    /// A known limit: an amount of cost per period. Attempts cost 1 each unless [`cost`](Self::cost) says otherwise.
    ///
    /// ```
    /// use std::time::Duration;
    /// use retry_protections::{Quota, RateLimiter};
    ///
    /// static SEARCH: RateLimiter<Quota> =
    ///     RateLimiter::fixed(5, Duration::from_secs(1)).burst(5);
    ///
    /// assert_eq!(SEARCH.rate(), 5.0);
    /// assert_eq!(SEARCH.available(), 5.0);
    /// ```
    ///
    /// An amount of at least 1, and a period of at least a nanosecond.
    pub const fn fixed(amount: u32, period: Duration) -> Self {
        Self(Queue::new(Quota::new(None, amount, period)))
    }

    /// How much may begin at once after a lull: requests of a [`quota`](Self::quota), with the tokens of the same time,
    /// or cost of a [`fixed`](Self::fixed) amount. At least 1, the default.
    ///
    /// A burst is safe up to what the server itself lets accumulate: for many servers the amount of a minute, for some
    /// only that of a second.
    pub const fn burst(mut self, burst: u32) -> Self {
        self.0.replace(self.0.new.burst(burst));
        self
    }

    /// Changes the amount for each period from now on, or the tokens of a [`quota`](Self::quota): for an operator, to
    /// slow calls down at once. What is still owed, and what running attempts give back, is as much as it was, at the
    /// new rate. A [`burst`](Self::burst) is as large as it was. Has an `INFO` in the log. Fails and changes nothing if
    /// it is 0.
    ///
    /// ```
    /// use std::time::Duration;
    /// use retry_protections::{Quota, RateLimiter};
    ///
    /// static SEARCH: RateLimiter<Quota> = RateLimiter::fixed(50, Duration::from_secs(1));
    ///
    /// // From an admin endpoint:
    /// assert!(SEARCH.set_amount(10).is_ok());
    /// assert_eq!(SEARCH.rate(), 10.0);
    /// ```
    pub fn set_amount(&self, amount: u32) -> Result<(), OutOfRange> {
        if amount == 0 {
            return Err(OutOfRange);
        }
        self.0.with(|quota| quota.set_units(amount, clock::now()));
        changed("amount per period", &amount);
        Ok(())
    }

    /// Changes the requests of a [`quota`](Self::quota) from now on, as [`set_amount`](Self::set_amount) does its
    /// tokens. Fails and changes nothing if it is 0, or there is no limit of requests.
    pub fn set_requests(&self, requests: u32) -> Result<(), OutOfRange> {
        self.0
            .with(|quota| quota.set_requests(requests, clock::now()))
            .ok_or(OutOfRange)?;
        changed("requests per minute", &requests);
        Ok(())
    }

    /// Corrects what an attempt was charged: it cost `cost`, but used `used`. The difference counts at once.
    pub fn settle(&self, cost: u32, used: u32) {
        // Read under the lock, so that no other thread's time is later.
        self.0.with(|quota| quota.settle(cost, used, clock::now()));
    }

    /// Corrects what is available by an answer's headers, since others may use the same limits. `header` returns the
    /// value of the header with a given name.
    ///
    /// | header | from |
    /// |---|---|
    /// | `x-ratelimit-remaining-requests`, `x-ratelimit-remaining-tokens` | OpenAI, Groq, Azure OpenAI |
    /// | `anthropic-ratelimit-requests-remaining`, `anthropic-ratelimit-tokens-remaining`, `…-input-tokens-remaining`, `…-output-tokens-remaining` | Anthropic |
    /// | `x-ratelimit-remaining`, `ratelimit-remaining` | GitHub and others |
    ///
    /// The smallest value present counts. It never makes more available, because some servers are late to count
    /// requests that are under way. Values that are not whole numbers are ignored.
    ///
    /// ```
    /// use std::collections::HashMap;
    /// use retry_protections::RateLimiter;
    ///
    /// let limiter = RateLimiter::quota(600, 90_000).burst(10);
    /// let headers = HashMap::from([("x-ratelimit-remaining-tokens", "1000")]);
    /// assert_eq!(limiter.available(), 1500.0);
    /// limiter.learn(|name| headers.get(name).copied());
    /// # assert!(limiter.available() < 1001.0);
    /// ```
    ///
    /// With the `http` crate: `limiter.learn(|name| headers.get(name)?.to_str().ok())`.
    pub fn learn<'h>(&self, header: impl Fn(&str) -> Option<&'h str>) {
        let remaining = remaining(header);
        self.0
            .with(|quota| quota.remaining(remaining, clock::now()));
    }
}

impl<By> RateLimiter<By> {
    #[cfg(feature = "governor_0_10")]
    pub(super) fn by(gate: By) -> Self
    where
        By: Clone,
    {
        Self(Queue::of(gate.clone(), gate))
    }

    /// The longest that an attempt waits for its turn. By default it waits as long as it takes.
    ///
    /// With zero, an attempt begins at once or is rejected ("try acquire").
    ///
    /// If calls have no deadline, set this, unless you bound how many calls there are at a time. Otherwise a queue that
    /// grows faster than the rate never gets shorter.
    pub const fn max_wait(mut self, max_wait: Duration) -> Self {
        self.0.max_wait = Some(max_wait);
        self
    }

    /// This limiter for attempts with that cost, such as the tokens that a request to a model takes.
    ///
    /// Small costs don't overtake a large one. An attempt that no burst covers begins once nothing is owed, and what
    /// comes after it waits for all of it.
    pub const fn cost(&self, cost: u32) -> WithCost<&Self> {
        WithCost::new(self, cost)
    }

    /// How many attempts wait for their turn.
    pub fn waiting(&self) -> usize {
        self.0.waiting()
    }

    /// For how long nothing begins because the server said so. `None` if nothing is paused.
    pub fn paused_for(&self) -> Option<Duration> {
        self.0.paused_for()
    }
}

impl<By: Paced> RateLimiter<By> {
    /// How much cost may begin per second now; infinite without a limit.
    pub fn rate(&self) -> f64 {
        self.0.look(|gate, _| gate.rate())
    }

    /// How much cost may begin at once; infinite without a limit. 0 while something is owed.
    pub fn available(&self) -> f64 {
        let available = self.0.look(|gate, _| gate.available(clock::now()));
        available.max(0.0)
    }
}

impl<By> Remembers for RateLimiter<By> {}

/// While nobody waits, no operator's number is in force, and it is as good as new, or unused and found by trying.
impl<By: Paced> Rest for RateLimiter<By> {
    fn is_at_rest(&self, is_unused: bool) -> bool {
        self.0
            .is_at_rest(|gate, now| gate.is_at_rest(&self.0.new, is_unused, now))
    }
}

/// Shows the rate and how many wait: `1.5 per second, 3 waiting`, or `not limited, 0 waiting`.
impl<By: Paced> fmt::Display for RateLimiter<By> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (rate, waiting) = self.0.look(|gate, waiting| (gate.rate(), waiting));
        if rate.is_infinite() {
            f.write_str("not limited")?;
        } else {
            write!(f, "{rate} per second")?;
        }
        write!(f, ", {waiting} waiting")
    }
}
