use std::fmt;
use std::pin::pin;
use std::sync::Arc;
use std::task::Waker;
use std::time::Duration;

use redis::aio::ConnectionLike;
use redis::{Client, RedisResult};
use retry_protections::{Leased, RateLimiter};
use retry_runtime::seam::{
    Admission, AdmissionControl, AdmissionState, AttemptOutcome, Changes, Permit, WithCost,
};
use tokio::sync::Mutex;
use tokio::sync::watch::Sender;
use tokio::time::{Instant, sleep, timeout};

use super::account::{Account, LeaseRequest, Ledger, Usage, dialer, expect_runtime, to_f64};

/// A [limiter](RateLimiter) for a quota that the processes of a fleet share through Redis, such as the requests per
/// minute of one API key.
///
/// ```
/// use std::time::Duration;
/// use redis::Client;
/// use retry_clients::redis::FleetQuota;
/// use retry_runtime::retry;
///
/// #[retry(max = 5, limiter = quota, deadline = "10m")]
/// async fn complete(quota: &FleetQuota, prompt: &str) -> std::io::Result<String> {
///     Ok(format!("an answer to {prompt}"))
/// }
///
/// # async fn start() -> Result<(), Box<dyn std::error::Error>> {
/// // In each of four processes. Together, they may send 600 requests a minute, 10 of them at once.
/// let quota = FleetQuota::new("model key 1", 600, Duration::from_secs(60), 4).burst(10);
/// let client = Client::open("redis://127.0.0.1")?;
/// tokio::spawn(quota.keep(client));
///
/// complete(&quota, "a question").await?;
/// # Ok(())
/// # }
/// ```
///
/// Within each process, attempts start in the order in which they arrived. [`keep`](Self::keep) requests the tokens for
/// all waiting attempts at once. In any interval, all processes together start at most the quota for that interval plus
/// one burst, or plus the quota for 20 ms if that is more than a burst. If attempts [cost](Self::cost) more than 1, the
/// limit may be exceeded by the cost of one attempt.
///
/// A process that gets no reply from Redis uses its own part of the quota: with four processes, a quarter. The tokens
/// that it used are deducted once Redis replies again. While Redis replies only to some processes, those can still use
/// the whole quota. So if one of four processes is cut off, the limit is five quarters of the quota. If `keep` doesn't
/// run, no attempt starts.
///
/// Clones share one queue.
#[derive(Clone)]
pub struct FleetQuota {
    shared: Arc<Shared>,
    /// Wakes the `keep` task, which ends once the last clone is dropped.
    requested: Sender<()>,
}

struct Shared {
    key: Box<str>,
    amount: u32,
    period: Duration,
    processes: u32,
    burst: u32,
    max_wait: Option<Duration>,
    limiter: RateLimiter<Leased>,
    ledger: Mutex<Ledger>,
    local: Mutex<LocalQuota>,
}

/// The shortest interval between requests to Redis, and the longest while attempts wait.
const MIN_INTERVAL: Duration = Duration::from_millis(10);
const REPORT_INTERVAL: Duration = Duration::from_secs(1);

impl FleetQuota {
    /// Creates a quota of `amount` units of cost per period, for all processes with the same key. `processes` is their
    /// maximum number. Values below 1 are raised to 1, and a period of zero to one nanosecond.
    ///
    /// Redis stores the bucket as `{retry:quota:KEY}`, and the data of each process under keys with that prefix, until
    /// a day after the last request; a bucket in debt is stored until the debt is paid. All processes should use the
    /// same settings.
    pub fn new(key: &str, amount: u32, period: Duration, processes: u32) -> Self {
        Self::from_shared(Shared {
            key: key.into(),
            amount: amount.max(1),
            period: period.max(Duration::from_nanos(1)),
            processes: processes.max(1),
            burst: 1,
            max_wait: None,
            limiter: RateLimiter::leased(),
            ledger: Mutex::default(),
            local: Mutex::default(),
        })
    }

    fn from_shared(shared: Shared) -> Self {
        Self {
            shared: Arc::new(shared),
            requested: Sender::new(()),
        }
    }

    /// Sets the total cost of attempts in all processes that may start at once after an idle time. At least 1, the
    /// default. Call it before [`keep`](Self::keep), because the returned limiter is separate from `self` and its
    /// clones.
    #[must_use]
    pub fn burst(self, burst: u32) -> Self {
        self.with(|shared| shared.burst = burst.max(1))
    }

    /// Sets the longest time that an attempt waits for its turn. Unlimited by default. Call it before
    /// [`keep`](Self::keep), as with [`burst`](Self::burst).
    #[must_use]
    pub fn max_wait(self, max_wait: Duration) -> Self {
        self.with(|shared| shared.max_wait = Some(max_wait))
    }

    fn with(self, set: impl FnOnce(&mut Shared)) -> Self {
        let before = &*self.shared;
        let mut shared = Shared {
            key: before.key.clone(),
            limiter: RateLimiter::leased(),
            ledger: Mutex::default(),
            local: Mutex::default(),
            ..*before
        };
        set(&mut shared);
        Self::from_shared(shared)
    }

    /// Returns this limiter for attempts with this cost, such as the number of tokens of a request to a model.
    ///
    /// The whole cost is leased as soon as any of the quota is left. If less than the cost is left, the bucket goes
    /// into debt, and all processes wait until the debt is paid. While Redis does not reply, a process first
    /// accumulates the whole cost from its own part.
    pub const fn cost(&self, cost: u32) -> WithCost<&Self> {
        WithCost::new(self, cost)
    }

    /// The number of attempts of this process that are waiting for their turn.
    pub fn waiting(&self) -> usize {
        self.shared.limiter.waiting()
    }

    /// Leases tokens from Redis for the waiting attempts, until all clones of this limiter are dropped. Spawn the
    /// future once in each process, on a tokio runtime: without a runtime, it panics. It connects by itself, even if
    /// Redis is down at first. If the task is aborted, or its runtime is dropped, spawn a new one: it continues where
    /// the previous task ended. A second task waits until the first one ends.
    ///
    /// The task sends at most a hundred requests a second to Redis while attempts wait, and one an hour otherwise. It
    /// waits up to one second to connect and 250 ms for a reply, and retries after up to 100 ms, 200 ms, … half a
    /// second. The log contains the first five failures, then one every ten seconds.
    pub fn keep(&self, client: Client) -> impl Future<Output = ()> + Send + 'static {
        self.keep_with(dialer(client))
    }

    /// Like [`keep`](Self::keep), for a cluster, sentinels and others: `connect` creates a new connection each time the
    /// previous one has failed. Connecting must take less than a second. A cluster's client connects to all its
    /// configured nodes, and by default waits a second for each: one unresponsive node would use up the whole time.
    ///
    /// ```
    /// use std::time::Duration;
    /// use redis::cluster::ClusterClient;
    /// use retry_clients::redis::FleetQuota;
    ///
    /// # async fn start() -> Result<(), Box<dyn std::error::Error>> {
    /// let quota = FleetQuota::new("model key 1", 600, Duration::from_secs(60), 4);
    /// let cluster = ClusterClient::builder(["redis://10.0.0.1", "redis://10.0.0.2"])
    ///     .connection_timeout(Duration::from_millis(300))
    ///     .build()?;
    /// tokio::spawn(quota.keep_with(move || {
    ///     let cluster = cluster.clone();
    ///     async move { cluster.get_async_connection().await }
    /// }));
    /// # Ok(())
    /// # }
    /// ```
    pub fn keep_with<F, C, Made>(&self, connect: F) -> impl Future<Output = ()> + Send + 'static
    where
        F: FnMut() -> Made + Send + 'static,
        Made: Future<Output = RedisResult<C>> + Send + 'static,
        C: ConnectionLike + Send + 'static,
    {
        let (shared, mut requested) = (Arc::clone(&self.shared), self.requested.subscribe());
        async move {
            expect_runtime();
            let rate = f64::from(shared.amount) / shared.period.as_secs_f64();
            let size = f64::from(shared.burst).max(interval_tokens(rate));
            let account = Account::new("quota", &shared.key, size, rate, connect, &shared.ledger);
            let (mut account, mut local) = (account.await, shared.local.lock().await);
            while requested.has_changed().is_ok() {
                let pause = local.renew_lease(&shared, &mut account).await;
                sleep(pause).await;
                if shared.limiter.lacking() == 0 {
                    let _ = timeout(REPORT_INTERVAL, requested.changed()).await;
                }
            }
            account.close(local.usage(shared.limiter.revoke())).await;
        }
    }
}

/// The part of the quota that a process uses while Redis does not reply.
#[derive(Default)]
struct LocalQuota {
    /// The time of the last update, and the tokens that were available then. `None` while Redis replies.
    since: Option<(Instant, f64)>,
    /// The tokens granted from the process's own part since its start.
    spent: u64,
    /// The tokens that were granted and then returned since the process started.
    returned: u64,
}

impl LocalQuota {
    /// Leases tokens for the waiting attempts. Returns the time to wait before the next request.
    async fn renew_lease<C: ConnectionLike>(
        &mut self,
        shared: &Shared,
        account: &mut Account<'_, C>,
    ) -> Duration {
        self.revoke(shared);
        // Return the unused tokens and request them again. Otherwise, they would be available in addition to the tokens
        // that the bucket accumulates meanwhile.
        let held = shared.limiter.room();
        let requested = LeaseRequest {
            tokens: shared.limiter.lacking() + held,
            indivisible: shared.limiter.lacking_for_first(),
        };
        // The tokens leave `limiter` only after the reply: if this task is aborted, the next one returns them.
        let answer = account.request_tokens(self.usage(held), requested);
        let answer = if self.since.is_some() {
            self.grant_until(shared, answer).await
        } else {
            answer.await
        };
        match answer {
            Ok(granted) => {
                self.since = None;
                self.replace(shared, held, granted);
                if granted < requested.tokens {
                    shared.next_token_wait()
                } else {
                    MIN_INTERVAL
                }
            }
            Err(pause) => {
                self.grant_until(shared, sleep(pause)).await;
                Duration::ZERO
            }
        }
    }

    /// Grants tokens from the process's own part until the future completes.
    async fn grant_until<T>(&mut self, shared: &Shared, done: impl Future<Output = T>) -> T {
        let mut done = pin!(done);
        loop {
            self.revoke(shared);
            self.grant(shared);
            if let Ok(done) = timeout(shared.next_token_wait(), done.as_mut()).await {
                return done;
            }
        }
    }

    /// The totals to report, if `given_back` more tokens are returned.
    fn usage(&self, given_back: u64) -> Usage {
        Usage {
            earned: to_f64(self.returned + given_back),
            local: self.spent,
        }
    }

    /// Returns the `held` tokens, and grants the new ones instead.
    fn replace(&mut self, shared: &Shared, held: u64, granted: u64) {
        let there = shared.limiter.revoke() + granted;
        // Tokens of attempts that started meanwhile are not returned.
        self.returned += held.min(there);
        shared.limiter.grant(there.saturating_sub(held));
    }

    /// Takes back tokens that no waiting attempt can use.
    fn revoke(&mut self, shared: &Shared) {
        let revoked = shared.limiter.revoke_unused();
        self.returned += revoked;
        if let Some((_, there)) = &mut self.since {
            *there += to_f64(revoked);
        }
    }

    /// Grants the available tokens of the process's own part.
    fn grant(&mut self, shared: &Shared) {
        let (lacking, first) = (shared.limiter.lacking(), shared.limiter.lacking_for_first());
        let now = Instant::now();
        let (since, before) = self.since.unwrap_or((now, 0.0));
        let part = 1.0 / f64::from(shared.processes);
        let rate = f64::from(shared.amount) / shared.period.as_secs_f64() * part;
        let burst = (f64::from(shared.burst) * part).max(interval_tokens(rate));
        // Tokens beyond the process's part of a burst accumulate only for waiting attempts.
        let most = burst.max(to_f64(lacking.min(first.max(1))));
        let there = (before + (now - since).as_secs_f64() * rate).min(most);
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "between 0 and `most`"
        )]
        let whole = there as u64;
        let granted = if whole < first { 0 } else { lacking.min(whole) };
        self.since = Some((now, there - to_f64(granted)));
        self.spent += granted;
        shared.limiter.grant(granted);
    }
}

/// The tokens that accumulate during two request intervals. A smaller bucket would limit high rates.
fn interval_tokens(rate: f64) -> f64 {
    rate * 2.0 * MIN_INTERVAL.as_secs_f64()
}

impl Shared {
    /// The time until one more token is available.
    fn next_token_wait(&self) -> Duration {
        (self.period / self.amount).clamp(MIN_INTERVAL, REPORT_INTERVAL)
    }
}

impl AdmissionControl for FleetQuota {
    fn enter(&self, cost: u32) -> Permit {
        self.shared.limiter.enter(cost)
    }

    fn poll(&self, permit: &mut Permit, waker: &Waker) -> Admission {
        let turn = self.shared.limiter.poll(permit, waker);
        if let Admission::Wait { .. } = turn {
            self.requested.send_replace(());
        }
        turn
    }

    fn leave(&self, permit: Permit, outcome: AttemptOutcome) -> Changes {
        let changes = self.shared.limiter.leave(permit, outcome);
        if changes != [None; 2] {
            // The tokens can't be used during a pause, so `keep` returns them.
            self.requested.send_replace(());
        }
        changes
    }

    fn longest_wait(&self) -> Option<Duration> {
        self.shared.max_wait
    }

    fn state(&self) -> AdmissionState {
        self.shared.limiter.state()
    }
}

impl fmt::Debug for FleetQuota {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("FleetQuota")
            .field("key", &self.shared.key)
            .field("waiting", &self.waiting())
            .finish_non_exhaustive()
    }
}
