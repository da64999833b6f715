use std::fmt;
use std::time::Duration;

use retry_runtime::macro_support::{Remembers, log_change};
use retry_runtime::seam::WithCost;

use crate::clock;
use crate::keyed::Evictable;
use crate::limiter::adaptive::Adaptive;
use crate::limiter::gate::Paced;
use crate::limiter::queue::Queue;
use crate::limiter::quota::Quota;
use crate::limiter::remaining::{REQUESTS, TOKENS, read};
use crate::out_of_range::OutOfRange;

/// Limits the number of attempts that start per second, for the key `limiter`.
///
/// For servers that refuse requests above a rate, such as model APIs. Attempts wait in order of arrival, so few are
/// refused and have to be retried.
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
/// | created by | rate | type |
/// |---|---|---|
/// | [`adaptive`](Self::adaptive) | adapted to the server's refusals | `RateLimiter` |
/// | [`quota`](Self::quota) | known: requests and tokens per minute | `RateLimiter<Quota>` |
/// | [`fixed`](Self::fixed) | known: an amount per period | `RateLimiter<Quota>` |
/// | [`leased`](Self::leased) | managed by other code | `RateLimiter<Leased>` |
///
/// An attempt costs 1, or the amount passed to [`cost`](Self::cost), as in `limiter = MODEL_API.cost(tokens)`. Rates
/// are in cost per second.
///
/// Create one for each limit of the server, usually one for each API key and model, or use [`Keyed`](crate::Keyed).
#[derive(Debug)]
pub struct RateLimiter<By = Adaptive>(pub(super) Queue<By>);

impl RateLimiter {
    /// Finds the rate that the server can handle. There is no limit until the server refuses attempts as `Throttled`. A
    /// single refusal is enough before the first success or, if it has no hint, after a second of successes. Otherwise,
    /// the server has to refuse more than a fifth of the attempts. Each refusal sets the rate to nine tenths of the
    /// rate of successes in the last one to two minutes, or of the previous rate, whichever is lower.
    ///
    /// Each success that had to wait raises the rate by a five-hundredth, or faster while the rate is below the last
    /// one at which attempts succeeded. A refused attempt that started before the rate was last lowered doesn't change
    /// it. If the server sends a hint, no attempt starts until the hint has passed.
    ///
    /// Some servers also refuse attempts for other reasons, at any rate. While they refuse no more than a fifth of the
    /// attempts, no refusal lowers the rate below nine tenths of the highest rate of successes. Once more than a
    /// twentieth are refused, that minimum is 100 % minus twice the share of refusals: 70 % if 15 % are refused. If
    /// such a server sends a hint, a refusal lowers the rate only by a tenth.
    ///
    /// A rate that is far too low doesn't last, because an attempt starts at least once a minute.
    ///
    /// Additive increase and multiplicative decrease come from [TCP](https://www.rfc-editor.org/rfc/rfc5681), applied
    /// to the rate instead of the window. The bound by the measured rate comes from the adaptive mode of the
    /// [AWS SDKs](https://docs.aws.amazon.com/sdkref/latest/guide/feature-retry-behavior.html).
    pub const fn adaptive() -> Self {
        Self(Queue::new(Adaptive::new()))
    }

    /// The initial rate. Default: no limit until the server refuses attempts.
    pub const fn start(mut self, per_second: f64) -> Self {
        let new = self.0.new;
        self.0.replace(new.within(per_second, new.least, new.most));
        self
    }

    /// The lowest rate. Default: none.
    pub const fn least(mut self, per_second: f64) -> Self {
        let new = self.0.new;
        self.0.replace(new.within(new.rate, per_second, new.most));
        self
    }

    /// The highest rate, even before the first refusal. Default: none. If it is below `least`, `least` applies.
    ///
    /// An attempt still starts once a minute, even if its cost takes longer to pay for. If once a minute is too often,
    /// you know the limit: use [`fixed`](Self::fixed).
    pub const fn most(mut self, per_second: f64) -> Self {
        let new = self.0.new;
        self.0.replace(new.within(new.rate, new.least, per_second));
        self
    }

    /// Changes the highest rate from now on: for an operator, to slow calls down at once. Infinity means none. The
    /// change is logged at level `INFO`. Fails and changes nothing if the rate is not above 0.
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
        log_change("highest rate per second", &per_second);
        Ok(())
    }
}

impl RateLimiter<Quota> {
    /// Known limits: requests and tokens per minute. An attempt takes one request, and its [`cost`](Self::cost) in
    /// tokens.
    ///
    /// Both limits are spread evenly over the minute: with 60 requests, one attempt starts each second.
    /// [`burst`](Self::burst) lets more attempts start at once after an idle time. An attempt that costs more tokens
    /// than a burst holds starts once a full burst is available, and the attempts after it wait for the rest.
    ///
    /// The number of tokens that an answer takes is known only afterwards. Report it, because most estimates are far
    /// too high:
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
    /// For `requests` and `tokens`, 0 counts as 1.
    pub const fn quota(requests: u32, tokens: u32) -> Self {
        let minute = Duration::from_secs(60);
        Self(Queue::new(Quota::new(Some(requests), tokens, minute)))
    }

    /// A known limit: an amount of cost per period. An attempt costs 1 unless [`cost`](Self::cost) sets another cost.
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
    /// An `amount` of 0 counts as 1, and a `period` of zero as a nanosecond.
    pub const fn fixed(amount: u32, period: Duration) -> Self {
        Self(Queue::new(Quota::new(None, amount, period)))
    }

    /// The amount that may start at once after an idle time: for a [`quota`](Self::quota), the number of requests, and
    /// the tokens that accrue in the same time; for a [`fixed`](Self::fixed) amount, the cost. At least 1, default 1.
    ///
    /// A burst is safe if the server allows it: many servers allow a minute's amount at once, some only a second's.
    pub const fn burst(mut self, burst: u32) -> Self {
        self.0.replace(self.0.new.burst(burst));
        self
    }

    /// Changes the amount for each period from now on, or the tokens of a [`quota`](Self::quota): for an operator, to
    /// slow calls down at once. The debt, refunds of running attempts and the [`burst`](Self::burst) stay the same in
    /// units, at the new rate. The change is logged at level `INFO`. Fails and changes nothing if `amount` is 0.
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
        log_change("amount per period", &amount);
        Ok(())
    }

    /// Changes the requests of a [`quota`](Self::quota) from now on, as [`set_amount`](Self::set_amount) changes its
    /// tokens. Fails and changes nothing if `requests` is 0, or there is no limit of requests.
    pub fn set_requests(&self, requests: u32) -> Result<(), OutOfRange> {
        self.0
            .with(|quota| quota.set_requests(requests, clock::now()))
            .ok_or(OutOfRange)?;
        log_change("requests per minute", &requests);
        Ok(())
    }

    /// Corrects the charge of an attempt that was charged `cost` but used `used`. The difference takes effect at once.
    pub fn settle(&self, cost: u32, used: u32) {
        // The clock is read under the lock, so that no other thread has used a later time.
        self.0
            .with(|quota| quota.units.settle(cost, used, clock::now()));
    }

    /// Lowers the available amounts to those in a response's headers, because other programs may use the same limits.
    /// `header` returns the value of the header with a given name.
    ///
    /// | header | from |
    /// |---|---|
    /// | `x-ratelimit-remaining-requests`, `x-ratelimit-remaining-tokens` | OpenAI, Groq, Azure OpenAI |
    /// | `anthropic-ratelimit-requests-remaining`, `anthropic-ratelimit-tokens-remaining`, `…-input-tokens-remaining`, `…-output-tokens-remaining` | Anthropic |
    /// | `x-ratelimit-remaining`, `ratelimit-remaining` | GitHub and others |
    ///
    /// If there are several values for a limit, the smallest counts. Amounts are never raised, because some servers
    /// count running requests late. Values that are not whole numbers are ignored.
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
        let (requests, tokens) = (read(REQUESTS, &header), read(TOKENS, &header));
        self.0
            .with(|quota| quota.lower_all(requests, tokens, clock::now()));
    }
}

impl<By> RateLimiter<By> {
    /// The longest time that an attempt waits for its turn. Default: no limit.
    ///
    /// With zero, an attempt starts at once or is rejected ("try acquire").
    ///
    /// Set `max_wait` if calls have no deadline, unless you limit the number of concurrent calls. Otherwise a queue
    /// that grows faster than the rate never gets shorter.
    pub const fn max_wait(mut self, max_wait: Duration) -> Self {
        self.0.max_wait = Some(max_wait);
        self
    }

    /// This limiter, for attempts with this cost, such as the number of tokens of a request to a model.
    ///
    /// A small cost doesn't overtake a large one. An attempt that costs more than a burst starts once nothing is owed,
    /// and the attempts after it wait for its cost to be paid off.
    pub const fn cost(&self, cost: u32) -> WithCost<&Self> {
        WithCost::new(self, cost)
    }

    /// The number of attempts that wait for their turn.
    pub fn waiting(&self) -> usize {
        self.0.lock().waiting()
    }

    /// The time until the end of a pause requested by the server. `None` if there is no pause.
    pub fn paused_for(&self) -> Option<Duration> {
        self.0.lock().paused_for()
    }
}

impl<By: Paced> RateLimiter<By> {
    /// The current rate, in cost per second; infinite without a limit.
    pub fn rate(&self) -> f64 {
        self.0.lock().gate.rate()
    }

    /// The cost that may start at once; infinite without a limit. 0 while a burst or more is owed.
    pub fn available(&self) -> f64 {
        self.0.lock().gate.available(clock::now()).max(0.0)
    }
}

impl<By> Remembers for RateLimiter<By> {}

/// At rest if no attempt waits, no operator has changed a setting, and the limit is in its initial state, or is
/// adaptive and unused.
impl<By: Paced> Evictable for RateLimiter<By> {
    fn can_evict(&self, is_unused: bool) -> bool {
        self.0
            .can_evict(|gate, now| gate.can_evict(&self.0.new, is_unused, now))
    }
}

/// Formats the rate and the number of waiting attempts, such as `1.5 per second, 3 waiting` or
/// `not limited, 0 waiting`.
impl<By: Paced> fmt::Display for RateLimiter<By> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let state = self.0.lock();
        let (rate, waiting) = (state.gate.rate(), state.waiting());
        drop(state);
        if rate.is_infinite() {
            f.write_str("not limited")?;
        } else {
            write!(f, "{rate} per second")?;
        }
        write!(f, ", {waiting} waiting")
    }
}
