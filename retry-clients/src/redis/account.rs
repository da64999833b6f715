use std::collections::hash_map::RandomState;
use std::fmt::Display;
use std::future::Future;
use std::hash::{BuildHasher, Hasher};
use std::pin::Pin;
use std::time::Duration;

use redis::aio::{ConnectionLike, MultiplexedConnection};
use redis::{Client, Cmd, RedisError, RedisResult, cmd};
use retry_runtime::{Call, Policy, Site, Verdict};
use tokio::runtime::Handle;
use tokio::time::error::Elapsed;
use tokio::time::{Instant, timeout};

/// How long to wait for an answer, and before it for a connection.
const PATIENCE: Duration = Duration::from_millis(250);
const PATIENCE_TO_CONNECT: Duration = Duration::from_secs(1);

/// When to ask a server again that does not answer.
const POLICY: Policy = Policy::exponential()
    .unlimited()
    .base(Duration::from_millis(100))
    .cap(LONGEST);
/// With the patience, less than the script leaves the others to come back.
const LONGEST: Duration = Duration::from_millis(500);

/// How many failures in a row are told one by one, and how often they are after that.
const TOLD: u32 = 5;
const TOLD_EVERY: Duration = Duration::from_secs(10);

/// How often Redis is told even if there is nothing to say. It forgets after a day.
const AT_LEAST_EVERY: Duration = Duration::from_secs(3600);

/// What a process has to do with a bucket that it shares.
pub(super) struct Account<F, C> {
    connect: F,
    connection: Option<C>,
    bucket: String,
    process: String,
    capacity: f64,
    per_second: f64,
    /// As far as this process knows.
    granted: u64,
    /// How often it asked.
    asks: u64,
    /// As of the last answer.
    told: Told,
    /// When that came. `None` where more may have been granted since: it goes back with the next ask.
    answered: Option<Instant>,
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
#[derive(Clone, Copy)]
pub(super) struct Wanted {
    pub(super) tokens: u64,
    /// So many of them at once or none.
    pub(super) together: u64,
}

impl Wanted {
    pub(super) const NONE: Self = Self {
        tokens: 0,
        together: 0,
    };
}

/// Makes connections to a server.
pub(super) fn to(
    client: Client,
) -> impl FnMut() -> Connecting<MultiplexedConnection> + Send + 'static {
    move || {
        let client = client.clone();
        Box::pin(async move { client.get_multiplexed_async_connection().await })
    }
}

type Connecting<C> = Pin<Box<dyn Future<Output = RedisResult<C>> + Send>>;

impl<F, C, Made> Account<F, C>
where
    F: FnMut() -> Made,
    Made: Future<Output = RedisResult<C>>,
    C: ConnectionLike,
{
    /// Of that kind, and with that key.
    pub(super) fn new(kind: &str, key: &str, capacity: f64, per_second: f64, connect: F) -> Self {
        // A cluster places a key by its part in braces, so both keys are on one node.
        let bucket = format!("{{retry:{kind}:{key}}}");
        Self {
            connect,
            connection: None,
            process: format!("{bucket}:{:016x}{:016x}", random(), random()),
            bucket,
            capacity,
            per_second,
            granted: 0,
            asks: 0,
            told: Told::default(),
            answered: None,
            failing: Call::new(),
            failed: None,
        }
    }

    /// Asks for tokens. Returns how many it was granted (none, where there is nothing to say), or how long to wait before
    /// it asks again.
    pub(super) async fn ask(&mut self, told: Told, wanted: Wanted) -> Result<u64, Duration> {
        let is_recent = |answered: Instant| answered.elapsed() < AT_LEAST_EVERY;
        if wanted.tokens == 0 && told == self.told && self.answered.is_some_and(is_recent) {
            return Ok(0);
        }
        let was_connected = self.connection.is_some();
        let answer = self.answer(told, wanted).await;
        match answer {
            Ok(granted) => {
                self.failing.succeeded(&Site::new(&POLICY, &self.bucket));
                self.failing = Call::new();
                let new = granted.saturating_sub(self.granted);
                self.granted = self.granted.max(granted);
                self.told = told;
                self.answered = Some(Instant::now());
                Ok(new)
            }
            // Servers close connections that are idle.
            Err(Failure::Said(_)) if was_connected => Err(Duration::ZERO),
            Err(Failure::Said(error)) => Err(self.failed(&error)),
            Err(Failure::Late) => Err(self.failed(&"no answer in time")),
        }
    }

    /// How long to wait before the server is asked again.
    fn failed(&mut self, error: &dyn Display) -> Duration {
        let is_recent = |failed: Instant| failed.elapsed() < TOLD_EVERY;
        if self.failing.attempt() > TOLD && self.failed.is_some_and(is_recent) {
            return LONGEST;
        }
        self.failed = Some(Instant::now());
        let site = Site::new(&POLICY, &self.bucket);
        let pause = self.failing.failed(&site, Verdict::TRANSIENT, error);
        pause.unwrap_or(LONGEST)
    }

    /// Nobody is there any more to take what it was granted: that goes back as if the answer had been lost.
    pub(super) fn refuse(&mut self, granted: u64) {
        if granted > 0 {
            self.granted -= granted;
            self.answered = None;
        }
    }

    /// Asks for the last time.
    pub(super) async fn tell(mut self, last: Told) {
        if let Err(Duration::ZERO) = self.ask(last, Wanted::NONE).await {
            let _ = self.ask(last, Wanted::NONE).await;
        }
    }

    /// Asks on the last connection, or on a new one. A connection that failed is not reused: if it only looks alive, it
    /// could take minutes to notice.
    async fn answer(&mut self, told: Told, wanted: Wanted) -> Result<u64, Failure> {
        let mut connection = match self.connection.take() {
            Some(connection) => connection,
            None => timeout(PATIENCE_TO_CONNECT, (self.connect)()).await??,
        };
        let script = self.script(told, wanted);
        if wanted.tokens > 0 {
            self.answered = None;
        }
        let granted = timeout(PATIENCE, script.query_async(&mut connection)).await??;
        self.connection = Some(connection);
        Ok(granted)
    }

    fn script(&mut self, told: Told, wanted: Wanted) -> Cmd {
        self.asks += 1;
        let mut script = cmd("EVAL");
        script
            .arg(include_str!("lease.lua"))
            .arg(2)
            .arg(&self.bucket)
            .arg(&self.process)
            .arg(self.capacity)
            .arg(self.per_second)
            .arg(told.earned)
            .arg(told.alone)
            .arg(self.granted.saturating_add(wanted.tokens))
            .arg(self.granted)
            .arg(wanted.together)
            .arg(self.asks)
            .arg(self.told.earned)
            .arg(self.told.alone);
        script
    }
}

/// Says what is missing before the first ask does, in tokio's words.
pub(super) fn expect_runtime() {
    assert!(
        Handle::try_current().is_ok(),
        "`keep` waits with tokio's timer, and there is no tokio runtime here: spawn it on one, as with `tokio::spawn`"
    );
}

/// Why there was no answer.
enum Failure {
    Late,
    Said(RedisError),
}

impl From<Elapsed> for Failure {
    fn from(_: Elapsed) -> Self {
        Self::Late
    }
}

impl From<RedisError> for Failure {
    fn from(error: RedisError) -> Self {
        Self::Said(error)
    }
}

/// The standard library seeds its tables with what the system has of randomness.
fn random() -> u64 {
    RandomState::new().build_hasher().finish()
}
