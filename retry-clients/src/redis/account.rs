use std::fmt::Display;
use std::pin::Pin;
use std::sync::LazyLock;
use std::time::{Duration, UNIX_EPOCH};

use redis::aio::{ConnectionLike, MultiplexedConnection};
use redis::{Client, RedisResult, Script};
use retry_runtime::own_loop::{Call, Site};
use retry_runtime::{CallId, Policy, Verdict};
use tokio::runtime::Handle;
use tokio::sync::{Mutex, MutexGuard};
use tokio::time::error::Elapsed;
use tokio::time::{Instant, timeout};

/// The time limits for a reply, and for connecting.
const REPLY_TIMEOUT: Duration = Duration::from_millis(250);
const CONNECT_TIMEOUT: Duration = Duration::from_secs(1);

/// The pauses between requests to a server that does not reply.
const POLICY: Policy = Policy::new()
    .max(u32::MAX)
    .base(Duration::from_millis(100))
    .cap(MAX_PAUSE);
/// The longest pause. With both time limits, it must be shorter than the script's `return_within`.
const MAX_PAUSE: Duration = Duration::from_millis(500);

/// The number of consecutive failures that are logged one by one, and the interval between log records after that.
const LOGGED_FAILURES: u32 = 5;
const LOG_INTERVAL: Duration = Duration::from_secs(10);

/// The interval between reports if nothing has changed. Redis deletes the data of a process after a day.
const REPORT_INTERVAL: Duration = Duration::from_secs(3600);

static LEASE: LazyLock<Script> = LazyLock::new(|| Script::new(include_str!("lease.lua")));

/// The connection of a process to its shared bucket.
pub(super) struct Account<'a, C> {
    connect: Connect<C>,
    connection: Option<C>,
    bucket: String,
    capacity: f64,
    per_second: f64,
    ledger: MutexGuard<'a, Ledger>,
}

/// The state of a process's lease. It is stored outside of the `keep` task, so that the next task continues where the
/// previous one ended.
#[derive(Default)]
pub(super) struct Ledger {
    /// The random name of the process. Generated at the first request, because after a `fork` two processes would share
    /// an earlier one.
    process: Option<String>,
    /// The total number of tokens granted, according to the last reply.
    granted: u64,
    /// The number of requests.
    sequence: u64,
    /// The totals that the last successful request reported.
    usage: Usage,
    /// The time of the last reply. `None` if a later request may have been granted tokens: the next request returns
    /// them.
    answered: Option<Instant>,
    /// True after the first reply.
    is_known: bool,
    /// The consecutive failures that were logged.
    failing: Call,
    /// The time of the last logged failure.
    failed: Option<Instant>,
}

/// The totals that a process reports, counted since its start.
#[derive(Clone, Copy, Default, PartialEq)]
pub(super) struct Usage {
    pub(super) earned: f64,
    pub(super) local: u64,
}

/// The tokens that a process requests.
#[derive(Clone, Copy, Default)]
pub(super) struct LeaseRequest {
    pub(super) tokens: u64,
    /// The number of tokens that are granted all at once or not at all.
    pub(super) indivisible: u64,
}

type Connect<C> = Box<dyn FnMut() -> Connecting<C> + Send>;
type Connecting<C> = Pin<Box<dyn Future<Output = RedisResult<C>> + Send>>;

/// Returns a function that connects to the client's server.
pub(super) fn dialer(client: Client) -> impl FnMut() -> Connecting<MultiplexedConnection> + Send {
    move || {
        let client = client.clone();
        Box::pin(async move { client.get_multiplexed_async_connection().await })
    }
}

impl<'a, C: ConnectionLike> Account<'a, C> {
    /// Creates an account for a bucket of this kind and key. Waits while another task of this process uses the ledger.
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
            // A cluster chooses the node by the part of a key in braces, so the process's key is on the same node.
            bucket: format!("{{retry:{kind}:{key}}}"),
            capacity,
            per_second,
            ledger: ledger.lock().await,
        }
    }

    /// Requests tokens. Returns the number granted (0 without a request if there is nothing to report), or the time to
    /// wait before the next request.
    pub(super) async fn request_tokens(
        &mut self,
        usage: Usage,
        requested: LeaseRequest,
    ) -> Result<u64, Duration> {
        let is_recent = |answered: Instant| answered.elapsed() < REPORT_INTERVAL;
        let ledger = &*self.ledger;
        let is_reported = usage == ledger.usage && ledger.answered.is_some_and(is_recent);
        if requested.tokens == 0 && is_reported {
            return Ok(0);
        }
        // After a failure, first request zero tokens. If the reply to a request for tokens were lost, too, other
        // processes would go without tokens that this process never uses.
        if ledger.failed.is_some() && requested.tokens > 0 {
            self.exchange(usage, LeaseRequest::default(), false).await?;
        }
        self.exchange(usage, requested, false).await
    }

    async fn exchange(
        &mut self,
        usage: Usage,
        requested: LeaseRequest,
        is_last: bool,
    ) -> Result<u64, Duration> {
        let was_connected = self.connection.is_some();
        let answer = self.run_script(usage, requested, is_last).await;
        match answer {
            Ok(Ok(granted)) => {
                let ledger = &mut *self.ledger;
                ledger.failing.succeeded(&Site::new(&POLICY, &self.bucket));
                ledger.failing = Call::new();
                ledger.failed = None;
                let new = granted.saturating_sub(ledger.granted);
                ledger.granted = ledger.granted.max(granted);
                ledger.usage = usage;
                ledger.answered = Some(Instant::now());
                ledger.is_known = true;
                Ok(new)
            }
            // Servers close idle connections.
            Ok(Err(_)) if was_connected => Err(Duration::ZERO),
            Ok(Err(error)) => Err(self.record_failure(&error)),
            Err(_) => Err(self.record_failure(&"no reply in time")),
        }
    }

    /// Records a failure. Returns the time to wait before the next request.
    fn record_failure(&mut self, error: &dyn Display) -> Duration {
        let ledger = &mut *self.ledger;
        let is_recent = |failed: Instant| failed.elapsed() < LOG_INTERVAL;
        if ledger.failing.attempt() > LOGGED_FAILURES && ledger.failed.is_some_and(is_recent) {
            return MAX_PAUSE;
        }
        ledger.failed = Some(Instant::now());
        let site = Site::new(&POLICY, &self.bucket);
        let pause = ledger.failing.failed(&site, Verdict::TRANSIENT, error);
        pause.unwrap_or(MAX_PAUSE)
    }

    /// Sends the last report.
    pub(super) async fn close(mut self, last: Usage) {
        if let Err(Duration::ZERO) = self.exchange(last, LeaseRequest::default(), true).await {
            let _ = self.exchange(last, LeaseRequest::default(), true).await;
        }
    }

    /// Runs the script on the last connection, or on a new one. A connection that failed is not reused: it could take
    /// minutes to detect that it is dead.
    async fn run_script(
        &mut self,
        usage: Usage,
        requested: LeaseRequest,
        is_last: bool,
    ) -> Result<RedisResult<u64>, Elapsed> {
        let connection = match self.connection.take() {
            Some(connection) => Ok(connection),
            None => timeout(CONNECT_TIMEOUT, (self.connect)()).await?,
        };
        let mut connection = match connection {
            Ok(connection) => connection,
            Err(error) => return Ok(Err(error)),
        };
        let ledger = &mut *self.ledger;
        ledger.sequence += 1;
        if requested.tokens > 0 {
            ledger.answered = None;
        }
        let process = ledger
            .process
            .get_or_insert_with(|| format!("{}:{}", self.bucket, new_name()));
        // All numbers are in one argument: before authentication, a server closes the connection after a command with
        // more than ten parts, instead of reporting that a password is missing.
        let numbers = format!(
            "{} {} {} {} {} {} {} {} {} {} {} {}",
            self.capacity,
            self.per_second,
            usage.earned,
            usage.local,
            ledger.granted.saturating_add(requested.tokens),
            ledger.granted,
            requested.indivisible,
            ledger.sequence,
            ledger.usage.earned,
            ledger.usage.local,
            u8::from(ledger.is_known),
            u8::from(is_last),
        );
        let mut script = LEASE.prepare_invoke();
        script.key(&self.bucket).key(&*process).arg(numbers);
        let granted = timeout(REPLY_TIMEOUT, script.invoke_async(&mut connection)).await?;
        self.connection = granted.is_ok().then_some(connection);
        Ok(granted)
    }
}

#[expect(clippy::cast_precision_loss, reason = "counts stay below 2⁵³")]
pub(super) fn to_f64(count: u64) -> f64 {
    count as f64
}

/// Panics early with a clear message if there is no tokio runtime.
pub(super) fn expect_runtime() {
    assert!(
        Handle::try_current().is_ok(),
        "`keep` waits with tokio's timer, and there is no tokio runtime here: spawn it on one, as with `tokio::spawn`"
    );
}

/// Returns a new name, which also differs after a fork. If no random number is available, the name consists of the time
/// and the process ID.
fn new_name() -> String {
    CallId::random().map_or_else(
        || {
            let since = UNIX_EPOCH.elapsed().unwrap_or_default();
            format!("{}-{}", since.as_nanos(), std::process::id())
        },
        |id| id.to_string(),
    )
}
