use std::fmt;
use std::future::Future;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use redis::aio::ConnectionLike;
use redis::{Client, RedisResult};
use retry_runtime::{Kind, RetryBudget};
use tokio::sync::watch::Sender;
use tokio::time::{sleep, timeout};

use super::account::{Account, Ledger, Told, Wanted, expect_runtime, to};

/// A [budget](retry_runtime::Budget) that the processes of a fleet share through Redis: a share of all their calls, and
/// one number of tokens to begin with.
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
/// // In each process: a tenth of the calls of all of them, and 100 tokens for all of them.
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
/// Each call gives `ratio` tokens, and each retry takes one. A process leases tokens ahead of need, so a retry waits
/// for nothing: it takes a token of the lease. [`keep`](Self::keep) tells Redis of calls and renews the lease.
///
/// While Redis does not answer, or if `keep` doesn't run, each process has a share of its own calls, so all together
/// have no more than before. What was spent meanwhile is paid once Redis answers again.
///
/// Clones share one lease. Once the last of them is dropped, the task of `keep` gives it back, and ends: await it, as
/// above. If the process ends before that, its lease is lost; so is the lease of a budget in a `static`. That is at
/// most a tenth of what was there, rounded up.
#[derive(Clone)]
pub struct FleetBudget {
    shared: Arc<Shared>,
    /// Wakes the task that asks, which ends once the last of these is dropped.
    wanted: Sender<()>,
}

struct Shared {
    key: Box<str>,
    ratio: f64,
    capacity: u32,
    /// Since the process began.
    calls: AtomicU64,
    lease: AtomicU64,
    alone: Mutex<Alone>,
    ledger: tokio::sync::Mutex<Ledger>,
}

/// The share of a process that Redis does not answer.
#[derive(Default)]
struct Alone {
    is_answered: bool,
    /// The calls that its tokens were reckoned from.
    calls: u64,
    tokens: f64,
    /// What was spent, since the process began.
    spent: u64,
}

/// How often calls are told, and at most how often Redis is asked.
const EVERY: Duration = Duration::from_secs(1);
const AT_MOST_EVERY: Duration = Duration::from_millis(10);

impl FleetBudget {
    /// A share of the calls of all processes that name the same key: with 0.1, one retry for ten calls. The bucket
    /// begins with 100 tokens, and holds no more. A ratio below 0 counts as 0, one above 1000 as 1000.
    ///
    /// Redis keeps the bucket as `{retry:budget:KEY}`, and what it knows of each process beside it, for a day after it was
    /// asked last. All processes should name the same numbers.
    pub fn ratio(key: &str, ratio: f64) -> Self {
        Self::new(key, ratio, 100)
    }

    /// The tokens that the bucket holds at most, and begins with. With 0 nothing is retried. Call it before
    /// [`keep`](Self::keep): what this returns shares nothing with what it was made from.
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
            alone: Mutex::default(),
            ledger: tokio::sync::Mutex::default(),
        };
        Self {
            shared: Arc::new(shared),
            wanted: Sender::new(()),
        }
    }

    /// Tells Redis of the calls and renews the lease, until all clones of this budget are dropped. Spawn it once for
    /// each process, on a tokio runtime: elsewhere it panics. It connects by itself, also if Redis is down at first. If
    /// the task is aborted, or its runtime ends, spawn another: it goes on where that one ended. A second one waits for
    /// the end of the first.
    ///
    /// Redis is asked at most a hundred times a second, once a second while there are calls, and once an hour
    /// otherwise. It has a second to accept a connection and 250 ms to answer; then it is asked again after up to
    /// 100 ms, 200 ms, … half a second. The log has the first five failures, and then one every ten seconds.
    pub fn keep(&self, client: Client) -> impl Future<Output = ()> + Send + 'static {
        self.keep_with(to(client))
    }

    /// Like [`keep`](Self::keep), for a cluster, sentinels and others: `connect` makes a connection, each time that the one
    /// before has failed. It has a second. A cluster's client waits for all nodes that it was given, and for a second each
    /// unless told otherwise: then one node that doesn't answer would keep it from the others.
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
        let (shared, mut wanted) = (Arc::clone(&self.shared), self.wanted.subscribe());
        async move {
            expect_runtime();
            let (capacity, ledger) = (f64::from(shared.capacity), &shared.ledger);
            let account = Account::new("budget", &shared.key, capacity, 0.0, connect, ledger);
            let (mut account, _kept) = (account.await, Kept(&shared));
            let mut spends = true;
            while wanted.has_changed().is_ok() {
                if let Err(pause) = shared.ask(&mut account, spends).await {
                    sleep(pause).await;
                    continue;
                }
                sleep(AT_MOST_EVERY).await;
                // A process that spends nothing leaves new tokens to those that do.
                spends = timeout(EVERY, wanted.changed()).await.is_ok();
            }
            account.tell(shared.told(shared.lease.load(Relaxed))).await;
        }
    }

    /// The tokens that this process can spend now without asking.
    pub fn available(&self) -> u64 {
        self.shared.lease.load(Relaxed)
    }
}

/// A budget whose lease is renewed, until this is dropped: also where the task is aborted or panics, or its runtime ends.
struct Kept<'a>(&'a Shared);

impl Drop for Kept<'_> {
    fn drop(&mut self) {
        self.0.is_left_alone();
    }
}

impl Shared {
    /// Reports calls, and renews the lease of a process that spends. Fails with how long to wait before Redis is asked
    /// again, if it did not answer.
    async fn ask<C: ConnectionLike>(
        &self,
        account: &mut Account<'_, C>,
        spends: bool,
    ) -> Result<(), Duration> {
        let leased = self.lease.load(Relaxed);
        let mut wanted = Wanted::default();
        if spends || leased == 0 {
            // Not as much as was denied: those calls have ended, and other processes need it.
            wanted.tokens = self.ahead().saturating_sub(leased);
        }
        match account.ask(self.told(0), wanted).await {
            Ok(granted) => {
                self.lease.fetch_add(granted, Relaxed);
                self.alone().is_answered = true;
                Ok(())
            }
            Err(pause) => {
                self.is_left_alone();
                Err(pause)
            }
        }
    }

    /// How much is leased ahead of need.
    fn ahead(&self) -> u64 {
        u64::from((self.capacity / 10).max(1).min(self.capacity))
    }

    /// What Redis is told, with that much given back.
    #[expect(clippy::cast_precision_loss, reason = "calls are counted below 2⁵³")]
    fn told(&self, given_back: u64) -> Told {
        Told {
            earned: self.calls.load(Relaxed) as f64 * self.ratio + given_back as f64,
            alone: self.alone().spent,
        }
    }

    fn is_left_alone(&self) {
        let mut alone = self.alone();
        if alone.is_answered {
            alone.is_answered = false;
            alone.calls = self.calls.load(Relaxed);
            alone.tokens = 0.0;
        }
    }

    /// Pays from the share of this process, where Redis does not answer.
    #[cold]
    fn withdraw_alone(&self) -> bool {
        let mut alone = self.alone();
        if alone.is_answered {
            return false;
        }
        let calls = self.calls.load(Relaxed);
        #[expect(clippy::cast_precision_loss, reason = "calls are counted below 2⁵³")]
        let earned = calls.saturating_sub(alone.calls) as f64 * self.ratio;
        alone.calls = calls;
        #[expect(clippy::cast_precision_loss, reason = "a tenth of a `u32`")]
        let most = self.ahead() as f64;
        alone.tokens = (alone.tokens + earned).min(most);
        if alone.tokens < 1.0 {
            return false;
        }
        alone.tokens -= 1.0;
        alone.spent += 1;
        true
    }

    fn alone(&self) -> MutexGuard<'_, Alone> {
        self.alone.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl RetryBudget for FleetBudget {
    #[inline]
    fn withdraw(&self, _: Kind) -> bool {
        let shared = &*self.shared;
        let less = |there: u64| there.checked_sub(1);
        match shared.lease.fetch_update(Relaxed, Relaxed, less) {
            Ok(before) => {
                // Not only at half: less than all of it may have been granted.
                if before <= shared.ahead() / 2 + 1 {
                    self.wanted.send_replace(());
                }
                true
            }
            Err(_) => {
                self.wanted.send_replace(());
                shared.withdraw_alone()
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
