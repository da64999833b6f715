use std::fmt;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use redis::aio::ConnectionLike;
use redis::{Client, RedisResult};
use retry_runtime::{Kind, seam::RetryBudget};
use tokio::sync::watch::Sender;
use tokio::time::{sleep, timeout};

use super::account::{Account, LeaseRequest, Ledger, Usage, dialer, expect_runtime, to_f64};

/// A [budget](retry_runtime::Budget) that the processes of a fleet share through Redis: a ratio of all their calls,
/// plus an initial number of tokens.
///
/// ```
/// use redis::Client;
/// use retry_clients::redis::FleetBudget;
/// use retry_runtime::retry;
///
/// #[retry(max = 3, budget = budget)]
/// async fn charge(budget: &FleetBudget) -> std::io::Result<()> {
///     Ok(())
/// }
///
/// # async fn start() -> Result<(), Box<dyn std::error::Error>> {
/// // In each process. Together, the processes may retry a tenth of their calls, plus 100 at first.
/// let budget = FleetBudget::ratio("payments", 0.1);
/// let client = Client::open("redis://127.0.0.1")?;
/// let kept = tokio::spawn(budget.keep(client));
///
/// charge(&budget).await?;
/// drop(budget);
/// kept.await?;
/// # Ok(())
/// # }
/// ```
///
/// Each call earns `ratio` tokens, and each retry takes one. A process leases tokens in advance, so a retry doesn't
/// wait: it takes a leased token. [`keep`](Self::keep) reports calls to Redis and renews the lease.
///
/// While Redis does not reply, or if `keep` doesn't run, each process may retry `ratio` of its own calls, so the total
/// doesn't increase. The tokens spent meanwhile are deducted once Redis replies again.
///
/// Clones share one lease. Once the last clone is dropped, the `keep` task returns the lease and ends: await the task,
/// as above. If the process ends earlier, its lease is lost; so is the lease of a budget in a `static`. A lease is at
/// most a tenth of the available tokens, rounded up.
#[derive(Clone)]
pub struct FleetBudget {
    shared: Arc<Shared>,
    /// Wakes the `keep` task, which ends once the last clone is dropped.
    requested: Sender<()>,
}

struct Shared {
    key: Box<str>,
    ratio: f64,
    capacity: u32,
    /// The number of calls since the process started.
    calls: AtomicU64,
    lease: AtomicU64,
    local: Mutex<LocalBudget>,
    ledger: tokio::sync::Mutex<Ledger>,
}

/// The budget of a process while Redis does not reply.
#[derive(Default)]
struct LocalBudget {
    is_answered: bool,
    /// The value of `Shared::calls` when `tokens` was last computed.
    calls: u64,
    tokens: f64,
    /// The tokens spent without Redis since the process started.
    spent: u64,
}

/// The interval between reports of calls, and the shortest interval between requests to Redis.
const REPORT_INTERVAL: Duration = Duration::from_secs(1);
const MIN_INTERVAL: Duration = Duration::from_millis(10);

impl FleetBudget {
    /// Creates a budget that earns a ratio of the calls of all processes with the same key: 0.1 allows one retry per
    /// ten calls. The bucket starts with 100 tokens, which is also its capacity. A ratio below 0 counts as 0, a ratio
    /// above 1000 as 1000.
    ///
    /// Redis stores the bucket as `{retry:budget:KEY}`, and the data of each process under keys with that prefix, until
    /// a day after the last request. All processes should use the same settings.
    pub fn ratio(key: &str, ratio: f64) -> Self {
        Self::new(key, ratio, 100)
    }

    /// Sets the initial and maximum number of tokens in the bucket. With 0, nothing is retried. Call it before
    /// [`keep`](Self::keep), because the returned budget is separate from `self` and its clones.
    #[must_use]
    pub fn capacity(self, tokens: u32) -> Self {
        Self::new(&self.shared.key, self.shared.ratio, tokens)
    }

    fn new(key: &str, ratio: f64, capacity: u32) -> Self {
        let shared = Shared {
            key: key.into(),
            ratio: if ratio > 0.0 { ratio.min(1000.0) } else { 0.0 },
            capacity,
            calls: AtomicU64::new(0),
            lease: AtomicU64::new(0),
            local: Mutex::default(),
            ledger: tokio::sync::Mutex::default(),
        };
        Self {
            shared: Arc::new(shared),
            requested: Sender::new(()),
        }
    }

    /// Reports calls to Redis and renews the lease, until all clones of this budget are dropped. Spawn the future once
    /// in each process, on a tokio runtime: without a runtime, it panics. It connects by itself, even if Redis is down
    /// at first. If the task is aborted, or its runtime is dropped, spawn a new one: it continues where the previous
    /// task ended. A second task waits until the first one ends.
    ///
    /// The task sends one request a second to Redis while there are calls, up to a hundred a second while many calls
    /// retry, and one an hour otherwise. It waits up to one second to connect and 250 ms for a reply, and retries after
    /// up to 100 ms, 200 ms, … half a second. The log contains the first five failures, then one every ten seconds.
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
    /// use retry_clients::redis::FleetBudget;
    ///
    /// # async fn start() -> Result<(), Box<dyn std::error::Error>> {
    /// let budget = FleetBudget::ratio("payments", 0.1);
    /// let cluster = ClusterClient::builder(["redis://10.0.0.1", "redis://10.0.0.2"])
    ///     .connection_timeout(Duration::from_millis(300))
    ///     .build()?;
    /// tokio::spawn(budget.keep_with(move || {
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
            let (capacity, ledger) = (f64::from(shared.capacity), &shared.ledger);
            let account = Account::new("budget", &shared.key, capacity, 0.0, connect, ledger);
            let (mut account, _kept) = (account.await, KeepGuard(&shared));
            let mut spends = true;
            while requested.has_changed().is_ok() {
                if let Err(pause) = shared.renew_lease(&mut account, spends).await {
                    sleep(pause).await;
                    continue;
                }
                sleep(MIN_INTERVAL).await;
                // A process that doesn't retry leaves new tokens to processes that do.
                spends = timeout(REPORT_INTERVAL, requested.changed()).await.is_ok();
            }
            account
                .close(shared.usage(shared.lease.load(Relaxed)))
                .await;
        }
    }

    /// The number of tokens that this process can spend now without a request to Redis.
    pub fn available(&self) -> u64 {
        self.shared.lease.load(Relaxed)
    }
}

/// Marks the budget as no longer kept when it is dropped, even if the task is aborted or panics, or its runtime is
/// dropped.
struct KeepGuard<'a>(&'a Shared);

impl Drop for KeepGuard<'_> {
    fn drop(&mut self) {
        self.0.record_no_reply();
    }
}

impl Shared {
    /// Reports calls, and renews the lease of a process that retries. If Redis did not reply, returns the time to wait
    /// before the next request as the error.
    async fn renew_lease<C: ConnectionLike>(
        &self,
        account: &mut Account<'_, C>,
        spends: bool,
    ) -> Result<(), Duration> {
        let leased = self.lease.load(Relaxed);
        let mut requested = LeaseRequest::default();
        if spends || leased == 0 {
            // Don't request tokens for retries that were denied: those calls have ended, and other processes need the
            // tokens.
            requested.tokens = self.lease_size().saturating_sub(leased);
        }
        match account.request_tokens(self.usage(0), requested).await {
            Ok(granted) => {
                self.lease.fetch_add(granted, Relaxed);
                self.local().is_answered = true;
                Ok(())
            }
            Err(pause) => {
                self.record_no_reply();
                Err(pause)
            }
        }
    }

    /// The number of tokens that are leased in advance.
    fn lease_size(&self) -> u64 {
        u64::from((self.capacity / 10).max(1).min(self.capacity))
    }

    /// The totals to report, if `given_back` tokens are returned.
    fn usage(&self, given_back: u64) -> Usage {
        Usage {
            earned: to_f64(self.calls.load(Relaxed)) * self.ratio + to_f64(given_back),
            local: self.local().spent,
        }
    }

    fn record_no_reply(&self) {
        let mut local = self.local();
        if local.is_answered {
            local.is_answered = false;
            local.calls = self.calls.load(Relaxed);
            local.tokens = 0.0;
        }
    }

    /// Pays from this process's own calls, if Redis does not reply.
    #[cold]
    fn withdraw_local(&self) -> bool {
        let mut local = self.local();
        if local.is_answered {
            return false;
        }
        let calls = self.calls.load(Relaxed);
        let earned = to_f64(calls.saturating_sub(local.calls)) * self.ratio;
        local.calls = calls;
        local.tokens = (local.tokens + earned).min(to_f64(self.lease_size()));
        if local.tokens < 1.0 {
            return false;
        }
        local.tokens -= 1.0;
        local.spent += 1;
        true
    }

    fn local(&self) -> MutexGuard<'_, LocalBudget> {
        self.local.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl RetryBudget for FleetBudget {
    #[inline]
    fn withdraw(&self, _: Kind) -> bool {
        let shared = &*self.shared;
        let less = |there: u64| there.checked_sub(1);
        match shared.lease.fetch_update(Relaxed, Relaxed, less) {
            Ok(before) => {
                // `<=` and not `==`, because Redis may have granted less than was requested.
                if before <= shared.lease_size() / 2 + 1 {
                    self.requested.send_replace(());
                }
                true
            }
            Err(_) => {
                self.requested.send_replace(());
                shared.withdraw_local()
            }
        }
    }

    fn refund(&self, _: Kind) {
        self.shared.lease.fetch_add(1, Relaxed);
    }

    #[inline]
    fn called(&self) {
        self.shared.calls.fetch_add(1, Relaxed);
    }
}

impl fmt::Debug for FleetBudget {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("FleetBudget")
            .field("key", &self.shared.key)
            .field("available", &self.available())
            .finish_non_exhaustive()
    }
}
