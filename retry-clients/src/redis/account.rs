use std::fmt::Display;
use std::future::Future;
use std::pin::Pin;
use std::sync::LazyLock;
use std::time::{Duration, UNIX_EPOCH};

use redis::aio::{ConnectionLike, MultiplexedConnection};
use redis::{Client, RedisResult, Script};
use retry_runtime::{Call, CallId, Policy, Site, Verdict};
use tokio::runtime::Handle;
use tokio::sync::{Mutex, MutexGuard};
use tokio::time::error::Elapsed;
use tokio::time::{Instant, timeout};

/// How long to wait for an answer, and before it for a connection.
const PATIENCE: Duration = Duration::from_millis(250);
const PATIENCE_TO_CONNECT: Duration = Duration::from_secs(1);

/// When to ask a server again that does not answer.
const POLICY: Policy = Policy::new()
    .max(u32::MAX)
    .base(Duration::from_millis(100))
    .cap(LONGEST);
/// The longest pause: with the patience, less than the script leaves the others to come back.
const LONGEST: Duration = Duration::from_millis(500);

/// How many failures in a row are told one by one, and how often they are after that.
const TOLD: u32 = 5;
const TOLD_EVERY: Duration = Duration::from_secs(10);

/// How often Redis is told even if there is nothing to say. It forgets after a day.
const AT_LEAST_EVERY: Duration = Duration::from_secs(3600);

static LEASE: LazyLock<Script> = LazyLock::new(|| Script::new(include_str!("lease.lua")));

/// What a process has to do with a bucket that it shares.
pub(super) struct Account<'a, C> {
    connect: Connect<C>,
    connection: Option<C>,
    bucket: String,
    capacity: f64,
    per_second: f64,
    ledger: MutexGuard<'a, Ledger>,
}

/// What a process knows of its bucket. Kept beside the task that asks, so that the next goes on where one ended.
#[derive(Default)]
pub(super) struct Ledger {
    /// What the process is called. Drawn at the first ask: what was made before a `fork` is another
    /// process's, too.
    process: Option<String>,
    /// Tokens granted in all, as far as this process knows.
    granted: u64,
    /// How often the process asked.
    asks: u64,
    /// What the last answer told.
    told: Told,
    /// When the last answer came. `None` where more may have been granted since: it goes back with
    /// the next ask.
    answered: Option<Instant>,
    /// Whether there ever was an answer.
    is_known: bool,
    /// Failures in a row that were told.
    failing: Call,
    /// When the last of them was.
    failed: Option<Instant>,
}

/// What a process says of itself: totals since it began.
#[derive(Clone, Copy, Default, PartialEq)]
pub(super) struct Told {
    pub(super) earned: f64,
    pub(super) alone: u64,
}

/// What a process wants.
#[derive(Clone, Copy, Default)]
pub(super) struct Wanted {
    pub(super) tokens: u64,
    /// Takes so many at once, or none.
    pub(super) together: u64,
}

type Connect<C> = Box<dyn FnMut() -> Connecting<C> + Send>;
type Connecting<C> = Pin<Box<dyn Future<Output = RedisResult<C>> + Send>>;

/// Makes connections to a server.
pub(super) fn to(client: Client) -> impl FnMut() -> Connecting<MultiplexedConnection> + Send {
    move || {
        let client = client.clone();
        Box::pin(async move { client.get_multiplexed_async_connection().await })
    }
}

impl<'a, C: ConnectionLike> Account<'a, C> {
    /// An account of that kind with that key. Waits while another task asks for this process.
    pub(super) async fn new<Made>(
        kind: &str,
        key: &str,
        capacity: f64,
        per_second: f64,
        mut connect: impl FnMut() -> Made + Send + 'static,
        ledger: &'a Mutex<Ledger>,
    ) -> Self
    where
        Made: Future<Output = RedisResult<C>> + Send + 'static,
    {
        Self {
            connect: Box::new(move || Box::pin(connect())),
            connection: None,
            // A cluster places a key by its part in braces, so the process's is on the same node.
            bucket: format!("{{retry:{kind}:{key}}}"),
            capacity,
            per_second,
            ledger: ledger.lock().await,
        }
    }

    /// Asks for tokens. Returns how many it was granted (none, where there is nothing to say), or how long to wait before
    /// it asks again.
    pub(super) async fn ask(&mut self, told: Told, wanted: Wanted) -> Result<u64, Duration> {
        let is_recent = |answered: Instant| answered.elapsed() < AT_LEAST_EVERY;
        let ledger = &*self.ledger;
        let is_said = told == ledger.told && ledger.answered.is_some_and(is_recent);
        if wanted.tokens == 0 && is_said {
            return Ok(0);
        }
        // Whoever got no answer wants nothing until there is one: it would take from others what it doesn't hear of.
        if ledger.failed.is_some() && wanted.tokens > 0 {
            self.exchange(told, Wanted::default(), false).await?;
        }
        self.exchange(told, wanted, false).await
    }

    async fn exchange(
        &mut self,
        told: Told,
        wanted: Wanted,
        is_last: bool,
    ) -> Result<u64, Duration> {
        let was_connected = self.connection.is_some();
        let answer = self.answer(told, wanted, is_last).await;
        match answer {
            Ok(Ok(granted)) => {
                let ledger = &mut *self.ledger;
                ledger.failing.succeeded(&Site::new(&POLICY, &self.bucket));
                ledger.failing = Call::new();
                ledger.failed = None;
                let new = granted.saturating_sub(ledger.granted);
                ledger.granted = ledger.granted.max(granted);
                ledger.told = told;
                ledger.answered = Some(Instant::now());
                ledger.is_known = true;
                Ok(new)
            }
            // Servers close connections that are idle.
            Ok(Err(_)) if was_connected => Err(Duration::ZERO),
            Ok(Err(error)) => Err(self.failed(&error)),
            Err(_) => Err(self.failed(&"no answer in time")),
        }
    }

    /// How long to wait before the server is asked again.
    fn failed(&mut self, error: &dyn Display) -> Duration {
        let ledger = &mut *self.ledger;
        let is_recent = |failed: Instant| failed.elapsed() < TOLD_EVERY;
        if ledger.failing.attempt() > TOLD && ledger.failed.is_some_and(is_recent) {
            return LONGEST;
        }
        ledger.failed = Some(Instant::now());
        let site = Site::new(&POLICY, &self.bucket);
        let pause = ledger.failing.failed(&site, Verdict::TRANSIENT, error);
        pause.unwrap_or(LONGEST)
    }

    /// Asks for the last time.
    pub(super) async fn tell(mut self, last: Told) {
        if let Err(Duration::ZERO) = self.exchange(last, Wanted::default(), true).await {
            let _ = self.exchange(last, Wanted::default(), true).await;
        }
    }

    /// Asks on the last connection, or on a new one. A connection that failed is not reused: if it only looks alive, it
    /// could take minutes to notice.
    async fn answer(
        &mut self,
        told: Told,
        wanted: Wanted,
        is_last: bool,
    ) -> Result<RedisResult<u64>, Elapsed> {
        let connection = match self.connection.take() {
            Some(connection) => Ok(connection),
            None => timeout(PATIENCE_TO_CONNECT, (self.connect)()).await?,
        };
        let mut connection = match connection {
            Ok(connection) => connection,
            Err(error) => return Ok(Err(error)),
        };
        let ledger = &mut *self.ledger;
        ledger.asks += 1;
        if wanted.tokens > 0 {
            ledger.answered = None;
        }
        let process = ledger
            .process
            .get_or_insert_with(|| format!("{}:{}", self.bucket, new_name()));
        // In one argument: a server that wants a password first says so only of commands of ten parts at most.
        let numbers = format!(
            "{} {} {} {} {} {} {} {} {} {} {} {}",
            self.capacity,
            self.per_second,
            told.earned,
            told.alone,
            ledger.granted.saturating_add(wanted.tokens),
            ledger.granted,
            wanted.together,
            ledger.asks,
            ledger.told.earned,
            ledger.told.alone,
            u8::from(ledger.is_known),
            u8::from(is_last),
        );
        let mut script = LEASE.prepare_invoke();
        script.key(&self.bucket).key(&*process).arg(numbers);
        let granted = timeout(PATIENCE, script.invoke_async(&mut connection)).await?;
        self.connection = granted.is_ok().then_some(connection);
        Ok(granted)
    }
}

/// Says what is missing before the first ask does, in tokio's words.
pub(super) fn expect_runtime() {
    assert!(
        Handle::try_current().is_ok(),
        "`keep` waits with tokio's timer, and there is no tokio runtime here: spawn it on one, as with `tokio::spawn`"
    );
}

/// A name for each process, also a forked one. Without a generator, what is left is the time, and the process's number.
fn new_name() -> String {
    CallId::random().map_or_else(
        || {
            let since = UNIX_EPOCH.elapsed().unwrap_or_default();
            format!("{}-{}", since.as_nanos(), std::process::id())
        },
        |id| id.to_string(),
    )
}
