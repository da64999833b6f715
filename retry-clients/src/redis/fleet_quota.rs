use std::fmt;
use std::future::Future;
use std::pin::pin;
use std::sync::Arc;
use std::task::Waker;
use std::time::Duration;

use redis::aio::ConnectionLike;
use redis::{Client, RedisResult};
use retry_protections::{Leased, RateLimiter};
use retry_runtime::{
    Admission, AdmissionControl, AdmissionState, AttemptOutcome, Changes, Permit, WithCost,
};
use tokio::sync::Mutex;
use tokio::sync::watch::Sender;
use tokio::time::{Instant, sleep, timeout};

use super::account::{Account, Ledger, Told, Wanted, expect_runtime, to};

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
/// // In each of four processes: 600 requests a minute for all of them, 10 of them at once.
/// let quota = FleetQuota::new("model key 1", 600, Duration::from_secs(60), 4).burst(10);
/// let client = Client::open("redis://127.0.0.1")?;
/// tokio::spawn(quota.keep(client));
///
/// complete(&quota, "a question").await?;
/// # Ok(())
/// # }
/// ```
///
/// Attempts wait in the order in which they came, within each process. [`keep`](Self::keep) asks Redis for what waits,
/// all of it at once. In any stretch of time, all processes together begin no more than its part of the quota and one
/// burst, or what the quota gives in 20 ms if that is more. Where attempts [cost](Self::cost) more than 1, that limit
/// may be exceeded by the cost of one attempt.
///
/// A process that gets no answer from Redis uses its own part of the quota: with four processes, a quarter. What it
/// used counts once Redis answers again. While Redis answers only some processes, those can still use the whole quota.
/// So with one of four cut off, the limit is five quarters. Where `keep` doesn't run, nothing begins.
///
/// Clones share one queue.
#[derive(Clone)]
pub struct FleetQuota {
    shared: Arc<Shared>,
    /// Wakes the task that asks, which ends once the last of these is dropped.
    wanted: Sender<()>,
}

struct Shared {
    key: Box<str>,
    amount: u32,
    period: Duration,
    processes: u32,
    burst: u32,
    max_wait: Option<Duration>,
    room: RateLimiter<Leased>,
    ledger: Mutex<Ledger>,
    part: Mutex<Part>,
}

/// How often Redis is asked at most, and at least while attempts wait.
const AT_MOST_EVERY: Duration = Duration::from_millis(10);
const EVERY: Duration = Duration::from_secs(1);

impl FleetQuota {
    /// An amount of cost per period, for all processes that name the same key. `processes` is how many of them there
    /// are at most. At least 1 of each, and a period of at least a nanosecond.
    ///
    /// Redis keeps the bucket as `{retry:quota:KEY}`, and what it knows of each process beside it, for a day after it was
    /// asked last; a bucket in debt until that is paid. All processes should name the same numbers.
    pub fn new(key: &str, amount: u32, period: Duration, processes: u32) -> Self {
        Self::of(Shared {
            key: key.into(),
            amount: amount.max(1),
            period: period.max(Duration::from_nanos(1)),
            processes: processes.max(1),
            burst: 1,
            max_wait: None,
            room: RateLimiter::leased(),
            ledger: Mutex::default(),
            part: Mutex::default(),
        })
    }

    fn of(shared: Shared) -> Self {
        Self {
            shared: Arc::new(shared),
            wanted: Sender::new(()),
        }
    }

    /// How much may begin at once after a lull, in all processes together. At least 1, the default. Call it before
    /// [`keep`](Self::keep): what this returns shares nothing with what it was made from.
    #[must_use]
    pub fn burst(self, burst: u32) -> Self {
        self.with(|shared| shared.burst = burst.max(1))
    }

    /// The longest that an attempt waits for its turn. By default it waits as long as it takes. Call it before
    /// [`keep`](Self::keep), as with [`burst`](Self::burst).
    #[must_use]
    pub fn max_wait(self, max_wait: Duration) -> Self {
        self.with(|shared| shared.max_wait = Some(max_wait))
    }

    fn with(self, set: impl FnOnce(&mut Shared)) -> Self {
        let before = &*self.shared;
        let mut shared = Shared {
            key: before.key.clone(),
            room: RateLimiter::leased(),
            ledger: Mutex::default(),
            part: Mutex::default(),
            ..*before
        };
        set(&mut shared);
        Self::of(shared)
    }

    /// This limiter for attempts with that cost, such as the tokens that a request to a model takes.
    ///
    /// It is leased as a whole as soon as anything is there. What costs more than that leaves a debt, and all processes
    /// wait until it is paid. A process that Redis does not answer gathers the whole cost from its own part first.
    pub const fn cost(&self, cost: u32) -> WithCost<&Self> {
        WithCost::new(self, cost)
    }

    /// How many attempts of this process wait for their turn.
    pub fn waiting(&self) -> usize {
        self.shared.room.waiting()
    }

    /// Asks Redis for what waits, until all clones of this limiter are dropped. Spawn it once for each process, on a
    /// tokio runtime: elsewhere it panics. It connects by itself, also if Redis is down at first. If the task is aborted,
    /// or its runtime ends, spawn another: it goes on where that one ended. A second one waits for the end of the first.
    ///
    /// Redis is asked at most a hundred times a second while attempts wait, and once an hour otherwise. It has a second
    /// to accept a connection and 250 ms to answer; then it is asked again after up to 100 ms, 200 ms, … half a second.
    /// The log has the first five failures, and then one every ten seconds.
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
        let (shared, mut wanted) = (Arc::clone(&self.shared), self.wanted.subscribe());
        async move {
            expect_runtime();
            let rate = f64::from(shared.amount) / shared.period.as_secs_f64();
            let room = f64::from(shared.burst).max(between_asks(rate));
            let account = Account::new("quota", &shared.key, room, rate, connect, &shared.ledger);
            let (mut account, mut part) = (account.await, shared.part.lock().await);
            while wanted.has_changed().is_ok() {
                let pause = part.ask(&shared, &mut account).await;
                sleep(pause).await;
                if shared.room.lacking() == 0 {
                    let _ = timeout(EVERY, wanted.changed()).await;
                }
            }
            account.tell(part.told(shared.room.revoke())).await;
        }
    }
}

/// The part of a process that Redis does not answer.
#[derive(Default)]
struct Part {
    /// Since when, and what was there then.
    since: Option<(Instant, f64)>,
    /// What was granted of it, since the process began.
    spent: u64,
    /// What was granted and given back, since the process began.
    returned: u64,
}

impl Part {
    /// Grants what waits. Returns for how long not to do it again.
    async fn ask<C: ConnectionLike>(
        &mut self,
        shared: &Shared,
        account: &mut Account<'_, C>,
    ) -> Duration {
        self.revoke(shared);
        // What is there and not taken is given back and asked for again, or it would be there on top of what the
        // bucket gathers meanwhile.
        let held = shared.room.room();
        let wanted = Wanted {
            tokens: shared.room.lacking() + held,
            together: shared.room.lacking_for_first(),
        };
        // Taken from the room only once there is an answer: if this task is aborted, the next one gives it back.
        let answer = account.ask(self.told(held), wanted);
        let answer = if self.since.is_some() {
            self.grant_until(shared, answer).await
        } else {
            answer.await
        };
        match answer {
            Ok(granted) => {
                self.since = None;
                self.replace(shared, held, granted);
                if granted < wanted.tokens {
                    shared.until_next()
                } else {
                    AT_MOST_EVERY
                }
            }
            Err(pause) => {
                self.grant_until(shared, sleep(pause)).await;
                Duration::ZERO
            }
        }
    }

    /// Grants what is there of the process's own until that is done.
    async fn grant_until<T>(&mut self, shared: &Shared, done: impl Future<Output = T>) -> T {
        let mut done = pin!(done);
        loop {
            self.revoke(shared);
            self.grant(shared);
            if let Ok(done) = timeout(shared.until_next(), done.as_mut()).await {
                return done;
            }
        }
    }

    /// What Redis is told, with that much more given back.
    #[expect(clippy::cast_precision_loss, reason = "what is counted is below 2⁵³")]
    fn told(&self, given_back: u64) -> Told {
        Told {
            earned: (self.returned + given_back) as f64,
            alone: self.spent,
        }
    }

    /// Gives back what was held, and grants what came instead.
    fn replace(&mut self, shared: &Shared, held: u64, granted: u64) {
        let there = shared.room.revoke() + granted;
        // What began meanwhile was not given back.
        self.returned += held.min(there);
        shared.room.grant(there.saturating_sub(held));
    }

    /// Takes back what nobody can use.
    fn revoke(&mut self, shared: &Shared) {
        let revoked = shared.room.revoke_unused();
        self.returned += revoked;
        if let Some((_, there)) = &mut self.since {
            #[expect(clippy::cast_precision_loss, reason = "what is counted is below 2⁵³")]
            let revoked = revoked as f64;
            *there += revoked;
        }
    }

    /// Grants what is there of the process's own.
    fn grant(&mut self, shared: &Shared) {
        let (lacking, first) = (shared.room.lacking(), shared.room.lacking_for_first());
        let now = Instant::now();
        let (since, before) = self.since.unwrap_or((now, 0.0));
        let part = 1.0 / f64::from(shared.processes);
        let rate = f64::from(shared.amount) / shared.period.as_secs_f64() * part;
        let burst = (f64::from(shared.burst) * part).max(between_asks(rate));
        // Only what waits gathers more than the part of a burst.
        #[expect(clippy::cast_precision_loss, reason = "a `u32`")]
        let most = burst.max(lacking.min(first.max(1)) as f64);
        let there = (before + (now - since).as_secs_f64() * rate).min(most);
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            clippy::cast_precision_loss,
            reason = "between 0 and the most"
        )]
        let (granted, left) = {
            let whole = there as u64;
            let granted = if whole >= first {
                lacking.min(whole)
            } else {
                0
            };
            (granted, there - granted as f64)
        };
        self.since = Some((now, left));
        self.spent += granted;
        shared.room.grant(granted);
    }
}

/// What comes to be there from one ask to the next but one: with less room, a high rate could not be used.
fn between_asks(rate: f64) -> f64 {
    rate * 2.0 * AT_MOST_EVERY.as_secs_f64()
}

impl Shared {
    /// The time until one more is there.
    fn until_next(&self) -> Duration {
        (self.period / self.amount).clamp(AT_MOST_EVERY, EVERY)
    }
}

impl AdmissionControl for FleetQuota {
    fn enter(&self, cost: u32) -> Permit {
        self.shared.room.enter(cost)
    }

    fn poll(&self, permit: &mut Permit, waker: &Waker) -> Admission {
        let turn = self.shared.room.poll(permit, waker);
        if let Admission::Wait { .. } = turn {
            self.wanted.send_replace(());
        }
        turn
    }

    fn leave(&self, permit: Permit, outcome: AttemptOutcome) -> Changes {
        let changes = self.shared.room.leave(permit, outcome);
        if changes != [None; 2] {
            // What is there can't be used in a pause.
            self.wanted.send_replace(());
        }
        changes
    }

    fn longest_wait(&self) -> Option<Duration> {
        self.shared.max_wait
    }

    fn state(&self) -> AdmissionState {
        self.shared.room.state()
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
