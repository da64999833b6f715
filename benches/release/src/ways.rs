//! The same call in every compared way.

use std::cell::Cell;
use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use backon::{ExponentialBuilder, Retryable};
use retry_runtime::{Policy, retry};
use tokio_retry::RetryIf;
use tokio_retry::strategy::{ExponentialBackoff, jitter};
use tryhard::RetryPolicy;

const KEY: &str = "model";
const MAX: u32 = 5;
const BASE: Duration = Duration::from_secs(1);
const CAP: Duration = Duration::from_secs(30);

static POLICY: Policy = Policy::new().max(MAX).base(BASE).cap(CAP);
static UNTIL: Policy = Policy::new()
    .max(MAX)
    .base(BASE)
    .cap(CAP)
    .deadline(Duration::from_mins(2));

#[derive(Debug)]
pub(crate) enum ClientError {
    Overloaded,
    Refused(String),
}

impl ClientError {
    fn is_transient(&self) -> bool {
        matches!(self, Self::Overloaded)
    }
}

impl std::fmt::Display for ClientError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Overloaded => f.write_str("overloaded"),
            Self::Refused(reason) => write!(f, "refused: {reason}"),
        }
    }
}

pub(crate) type Answered = Result<u64, ClientError>;

#[derive(Default)]
pub(crate) struct Client {
    calls: Cell<u64>,
}

/// The future of a request: ready at once.
struct Sent<'a>(&'a Client, &'a str);

impl Future for Sent<'_> {
    type Output = Answered;

    // Not inlined, like the code of a real client, which is too large for that.
    #[inline(never)]
    fn poll(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<Answered> {
        let calls = self.0.calls.get() + 1;
        self.0.calls.set(calls);
        Poll::Ready(match self.1 {
            "" => Err(ClientError::Refused(String::from("no key"))),
            "busy" => Err(ClientError::Overloaded),
            _ => Ok(calls),
        })
    }
}

impl Client {
    /// The function that bodies await.
    pub(crate) async fn get(&self, key: &str) -> Answered {
        let length = key.len() as u64;
        Ok(Sent(self, key).await? + length)
    }
}

/// Returns the pause before a retry, for ways that compute it themselves.
fn pause(retries: u32) -> Duration {
    let delay = BASE.saturating_mul(2_u32.saturating_pow(retries)).min(CAP);
    delay.mul_f64(fastrand::f64())
}

pub(crate) async fn by_hand(client: &Client) -> Answered {
    let mut retries = 0;
    loop {
        let pause = match client.get(KEY).await {
            Ok(value) => return Ok(value),
            Err(error) if retries < MAX && error.is_transient() => pause(retries),
            Err(error) => return Err(error),
        };
        retries += 1;
        tokio::time::sleep(pause).await;
    }
}

#[retry(max = 5, base = "1s", cap = "30s", on = ClientError::is_transient)]
pub(crate) async fn retried(client: &Client) -> Answered {
    client.get(KEY).await
}

#[retry(policy = &POLICY, on = ClientError::is_transient)]
pub(crate) async fn with_policy(client: &Client) -> Answered {
    client.get(KEY).await
}

#[retry(policy = &POLICY, on = ClientError::is_transient, attempt = attempt)]
pub(crate) async fn with_attempt(client: &Client) -> Answered {
    Ok(client.get(KEY).await? + u64::from(attempt.number()))
}

#[retry(policy = &UNTIL, on = ClientError::is_transient)]
pub(crate) async fn with_deadline(client: &Client) -> Answered {
    client.get(KEY).await
}

pub(crate) async fn chained(client: &Client) -> Answered {
    POLICY
        .on(ClientError::is_transient)
        .call(|| client.get(KEY))
        .await
}

pub(crate) async fn chained_attempt(client: &Client) -> Answered {
    POLICY
        .on(ClientError::is_transient)
        .call_attempt(async |attempt| Ok(client.get(KEY).await? + u64::from(attempt.number())))
        .await
}

pub(crate) async fn chained_deadline(client: &Client) -> Answered {
    UNTIL
        .on(ClientError::is_transient)
        .call(|| client.get(KEY))
        .await
}

pub(crate) async fn backon(client: &Client) -> Answered {
    (|| client.get(KEY))
        .retry(
            ExponentialBuilder::new()
                .with_min_delay(BASE)
                .with_factor(2.0)
                .with_max_delay(CAP)
                .with_max_times(MAX as usize)
                .with_jitter(),
        )
        .when(ClientError::is_transient)
        .await
}

pub(crate) async fn tokio_retry(client: &Client) -> Answered {
    // 2 ms to the power of the retry, times 500: 1 s, 2 s, 4 s, …
    let delays = ExponentialBackoff::from_millis(2)
        .factor(500)
        .max_delay(CAP);
    let delays = delays.map(jitter).take(MAX as usize);
    RetryIf::start(delays, || client.get(KEY), ClientError::is_transient).await
}

pub(crate) async fn tryhard(client: &Client) -> Answered {
    let policy = |attempt, error: &ClientError| {
        if error.is_transient() {
            RetryPolicy::Delay(pause(attempt - 1))
        } else {
            RetryPolicy::Break
        }
    };
    tryhard::retry_fn(|| client.get(KEY))
        .retries(MAX)
        .custom_backoff(policy)
        .await
}
