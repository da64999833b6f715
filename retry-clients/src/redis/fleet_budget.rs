use std::fmt;
use std::future::Future;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::Duration;

use redis::aio::ConnectionLike;
use retry_runtime::{Kind, RetryBudget};
use tokio::sync::Notify;
use tokio::time::{sleep, timeout};

use super::account::{Account, Told};

/// A [budget](retry_runtime::Budget) that the processes of a fleet share through Redis: a share of all their calls, and
/// one number of tokens to begin with.
///
/// ```
/// use redis::Client;
/// use redis::aio::ConnectionManager;
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
/// tokio::spawn(budget.keep(ConnectionManager::new(client).await?));
///
/// charge(&budget).await?;
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
/// What a process has leased is lost when it ends: at most a tenth of the capacity. Clones share one lease.
#[derive(Clone)]
pub struct FleetBudget(Arc<Shared>);

struct Shared {
    key: Box<str>,
    ratio: f64,
    capacity: u32,
    /// Since the process began.
    calls: AtomicU64,
    lease: AtomicU64,
    alone: Mutex<Alone>,
    /// Wakes what renews the lease.
    wanted: Arc<Notify>,
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
    /// Redis keeps the bucket under this key, and what it knows of each process beside it, for a day after it was asked
    /// last. All processes should name the same numbers.
    pub fn ratio(key: &str, ratio: f64) -> Self {
        Self::new(key, ratio, 100)
    }

    /// The tokens that the bucket holds at most, and begins with. Call it before [`keep`](Self::keep): what this
    /// returns shares nothing with what it was made from.
    #[must_use]
    pub fn capacity(self, tokens: u32) -> Self {
        Self::new(&self.0.key, self.0.ratio, tokens)
    }

    fn new(key: &str, ratio: f64, capacity: u32) -> Self {
        Self(Arc::new(Shared {
            key: key.into(),
            ratio: if ratio > 0.0 { ratio.min(1000.0) } else { 0.0 },
            capacity,
            calls: AtomicU64::new(0),
            lease: AtomicU64::new(0),
            alone: Mutex::default(),
            wanted: Arc::default(),
        }))
    }

    /// Tells Redis of the calls and renews the lease, until all clones of this budget are dropped. Spawn it once for
    /// each process, on a tokio runtime, with a connection that reconnects, such as a `ConnectionManager`.
    ///
    /// Redis is asked at most a hundred times a second, and once a second while there are calls. It has 250 ms to
    /// answer; then it is asked again after up to 100 ms, 200 ms, … half a second, as the log says.
    pub fn keep<C>(&self, mut connection: C) -> impl Future<Output = ()> + Send + 'static
    where
        C: ConnectionLike + Send + 'static,
    {
        let shared = Arc::downgrade(&self.0);
        let wanted = Arc::clone(&self.0.wanted);
        let mut account = Account::new(&self.0.key, f64::from(self.0.capacity), 0.0);
        async move {
            while let Some(pause) = ask(&shared, &mut account, &mut connection).await {
                sleep(pause).await;
                let _ = timeout(EVERY, wanted.notified()).await;
            }
        }
    }

    /// The tokens that this process can spend now without asking.
    pub fn available(&self) -> u64 {
        self.0.lease.load(Relaxed)
    }
}

/// Renews the lease. Returns for how long not to do it again; `None` where nobody needs it any more.
async fn ask(
    shared: &Weak<Shared>,
    account: &mut Account,
    connection: &mut (impl ConnectionLike + Send),
) -> Option<Duration> {
    let (told, tokens) = {
        let shared = shared.upgrade()?;
        (shared.told(), shared.lacking())
    };
    let answer = account.ask(connection, told, tokens).await;
    let shared = shared.upgrade()?;
    Some(match answer {
        Ok(granted) => {
            shared.lease.fetch_add(granted, Relaxed);
            shared.alone().is_answered = true;
            AT_MOST_EVERY
        }
        Err(pause) => {
            shared.is_left_alone();
            pause
        }
    })
}

impl Shared {
    /// How much is leased ahead of need.
    fn ahead(&self) -> u64 {
        u64::from(self.capacity / 10).max(1)
    }

    #[expect(clippy::cast_precision_loss, reason = "calls are counted below 2⁵³")]
    fn told(&self) -> Told {
        Told {
            earned: self.calls.load(Relaxed) as f64 * self.ratio,
            alone: self.alone().spent,
        }
    }

    /// What is to be leased.
    fn lacking(&self) -> u64 {
        // Not as much as was denied: those calls have ended, and other processes need it.
        self.ahead().saturating_sub(self.lease.load(Relaxed))
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
        self.wanted.notify_one();
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

impl Drop for Shared {
    fn drop(&mut self) {
        self.wanted.notify_one();
    }
}

impl RetryBudget for FleetBudget {
    #[inline]
    fn withdraw(&self, _: Kind) -> bool {
        let shared = &*self.0;
        let less = |there: u64| there.checked_sub(1);
        match shared.lease.fetch_update(Relaxed, Relaxed, less) {
            Ok(before) => {
                // Not only at half: less than all of it may have been granted.
                if before <= shared.ahead() / 2 + 1 {
                    shared.wanted.notify_one();
                }
                true
            }
            Err(_) => shared.withdraw_alone(),
        }
    }

    fn refund(&self, _: Kind) {
        self.0.lease.fetch_add(1, Relaxed);
    }

    #[inline]
    fn called(&self) {
        self.0.calls.fetch_add(1, Relaxed);
    }
}

impl fmt::Debug for FleetBudget {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("FleetBudget")
            .field("key", &self.0.key)
            .field("available", &self.available())
            .finish_non_exhaustive()
    }
}
