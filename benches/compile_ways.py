"""The packages that compile.py generates: functions that differ only in how they retry, and dependencies alone."""

from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent

RETRY = f'retry-runtime = {{ path = "{ROOT}/retry-runtime" }}\n'
TOKIO = 'tokio = { version = "1", default-features = false, features = ["time"] }\n'
TOKIO_FULL = 'tokio = { version = "1", features = ["full"] }\n'
FASTRAND = 'fastrand = "2"\n'
TRACING = 'tracing = { version = "0.1.40", default-features = false }\n'
BACKON = 'backon = { version = "1.6", default-features = false, features = ["std", "tokio-sleep"] }\n'
BACKON_MACROS = 'backon-macros = "1"\n'
MACRO = 'cold-macro = { path = "../cold-macro" }\n'
MACRO_DEPENDENCIES = """\
proc-macro2 = "1"
quote = "1"
syn = { version = "3", features = ["full"] }

[lib]
proc-macro = true
"""

# The code that all packages share: a client and its error.
CLIENT = """\
use std::pin::Pin;
use std::task::{Context, Poll};

pub struct Client {
    limit: usize,
}

pub struct Reply {
    pub tokens: u64,
}

#[derive(Debug)]
pub enum ClientError {
    Overloaded,
    Refused(String),
}

impl ClientError {
    pub fn is_transient(&self) -> bool {
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

impl std::error::Error for ClientError {}

impl Client {
    pub fn send<'a>(&'a self, prompt: &'a str) -> Sending<'a> {
        Sending { client: self, prompt }
    }
}

pub struct Sending<'a> {
    client: &'a Client,
    prompt: &'a str,
}

impl Future for Sending<'_> {
    type Output = Result<Reply, ClientError>;

    // Like the code of a real client, which is never small enough to be inlined.
    #[inline(never)]
    fn poll(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<Self::Output> {
        Poll::Ready(match self.prompt.len() {
            0 => Err(ClientError::Refused(String::from("no prompt"))),
            length if length > self.client.limit => Err(ClientError::Overloaded),
            length => Ok(Reply { tokens: length as u64 }),
        })
    }
}

type Boxed<'a> = Pin<Box<dyn Future<Output = Result<u64, ClientError>> + Send + 'a>>;
"""

# Code is generated only for functions that are called.
FUNCTION = """
#ATTRIBUTE#pub async fn call_#N#(client: &Client, prompt: &str) -> Result<u64, ClientError> {
#BODY#}

pub fn boxed_#N#<'a>(client: &'a Client, prompt: &'a str) -> Boxed<'a> {
    Box::pin(call_#N#(client, prompt))
}
"""

PAUSE = """
const MAX: u32 = 5;

fn pause(retries: u32) -> std::time::Duration {
    let base = std::time::Duration::from_secs(1);
    let delay = base.saturating_mul(2_u32.saturating_pow(retries));
    delay.min(std::time::Duration::from_secs(30)).mul_f64(fastrand::f64())
}
"""

PLAIN = """\
    let reply = client.send(prompt).await?;
    Ok(reply.tokens + #N#)
"""

LOOP = """\
    let mut retries = 0;
    loop {
        let pause = match #ATTEMPT# {
            Ok(#VALUE#) => return Ok(#RETURNED#),
            Err(error) if retries < MAX && error.is_transient() => {
                let pause = pause(retries);
#LOG#                pause
            }
            Err(error) => return Err(error),
        };
        retries += 1;
        tokio::time::sleep(pause).await;
    }
"""

BLOCK = "async { let reply = client.send(prompt).await?; Ok::<u64, ClientError>(reply.tokens + #N#) }.await"

LOG = """\
                tracing::warn!(
                    attempt = retries + 1, max = MAX, delay = ?pause, %error, call = "call_#N#", "retrying"
                );
"""


def by_hand(attempt, value, returned, log=""):
    body = LOOP.replace("#ATTEMPT#", attempt).replace("#VALUE#", value)
    return body.replace("#RETURNED#", returned).replace("#LOG#", log)


BACKON_EXPONENTIAL = """
fn exponential() -> backon::ExponentialBuilder {
    backon::ExponentialBuilder::new()
        .with_min_delay(std::time::Duration::from_secs(1))
        .with_factor(2.0)
        .with_max_delay(std::time::Duration::from_secs(30))
        .with_max_times(5)
        .with_jitter()
}
"""

BACKON_BODY = """\
    use backon::Retryable;
    (|| async {
        let reply = client.send(prompt).await?;
        Ok(reply.tokens + #N#)
    })
    .retry(exponential())
    .when(ClientError::is_transient)
#NOTIFY#    .await
"""

BACKON_LOG = """\
    .notify(|error: &ClientError, delay: std::time::Duration| {
        tracing::warn!(?delay, %error, call = "call_#N#", "retrying");
    })
"""

ATTRIBUTE = '#[retry_runtime::retry(max = 5, base = "1s", factor = 2, cap = "30s", on = ClientError::is_transient)]\n'
BACKON_ATTRIBUTE = (
    "#[backon_macros::backon(backoff = exponential, sleep = tokio::time::sleep, when = ClientError::is_transient)]\n"
)


@dataclass
class Way:
    """One way of retrying a function."""

    name: str
    title: str
    dependencies: str
    body: str
    attribute: str = ""
    prelude: str = ""

    def package(self):
        return f"way-{self.name}"

    def source(self, functions):
        parts = [CLIENT, self.prelude]
        for number in range(functions):
            function = FUNCTION.replace("#ATTRIBUTE#", self.attribute).replace("#BODY#", self.body)
            parts.append(function.replace("#N#", str(number)))
        return "".join(parts)


WAYS = [
    Way("plain", "no retry", TOKIO, PLAIN),
    Way(
        "by-hand",
        "by hand, no `?` in the body",
        TOKIO + FASTRAND,
        by_hand("client.send(prompt).await", "reply", "reply.tokens + #N#"),
        prelude=PAUSE,
    ),
    Way("by-hand-in-block", "by hand", TOKIO + FASTRAND, by_hand(BLOCK, "value", "value"), prelude=PAUSE),
    Way(
        "by-hand-logged",
        "by hand, with a log record",
        TOKIO + FASTRAND + TRACING,
        by_hand(BLOCK, "value", "value", LOG),
        prelude=PAUSE,
    ),
    Way("retry", "#[retry]", TOKIO + RETRY, PLAIN, attribute=ATTRIBUTE),
    Way("backon", "backon 1.6", TOKIO + BACKON, BACKON_BODY.replace("#NOTIFY#", ""), prelude=BACKON_EXPONENTIAL),
    Way(
        "backon-logged",
        "backon 1.6, with a log record",
        TOKIO + BACKON + TRACING,
        BACKON_BODY.replace("#NOTIFY#", BACKON_LOG),
        prelude=BACKON_EXPONENTIAL,
    ),
    Way(
        "backon-macros",
        "backon-macros 1.0",
        TOKIO + BACKON + BACKON_MACROS,
        PLAIN,
        attribute=BACKON_ATTRIBUTE,
        prelude=BACKON_EXPONENTIAL,
    ),
]

# The dependencies that a user's clean build compiles once.
DEPENDENCIES = [
    ("cold-tokio", "tokio (time)", TOKIO),
    ("cold-tokio-syn", "tokio (time), and a macro that has syn 3 (full) and does nothing", TOKIO + MACRO),
    ("cold-backon-tokio", "backon 1.6 and tokio (time)", BACKON + TOKIO),
    ("cold-backon-macros-tokio", "backon 1.6, backon-macros 1.0 and tokio (time)", BACKON + BACKON_MACROS + TOKIO),
    ("cold-retry-runtime", "retry-runtime", RETRY),
    ("cold-tokio-full-syn", "tokio (full), and the same macro", TOKIO_FULL + MACRO),
    ("cold-tokio-full-retry", "tokio (full) and retry-runtime", TOKIO_FULL + RETRY),
]


# Programs with one function, to measure the code that the first function adds. All of them contain `std`.
READ = """\
use std::io;

#[inline(never)]
fn read(path: &str) -> io::Result<Vec<u8>> {
    std::fs::read(path)
}

"""
LOOP = """\
{head} fn length(path: &str) -> io::Result<usize> {{
    let mut retries = 0;
    loop {{
        match read(path) {{
            Ok(text) => return Ok(text.len()),
            Err(error) if retries < 3 && error.kind() == io::ErrorKind::TimedOut => {{}}
            Err(error) => return Err(error),
        }}
        {sleep}(std::time::Duration::from_secs(1 << retries)){wait};
        retries += 1;
    }}
}}

"""
ANNOTATED = """\
#[retry_runtime::retry(max = 3)]
{head} fn length(path: &str) -> io::Result<usize> {{
    Ok(read(path)?.len())
}}

"""
MAIN = """\
fn main() {
    println!("{:?}", length("/etc/hostname"));
}
"""
# With an additional task and sleep, so that all async programs contain tokio's code.
ASYNC_MAIN = """\
async fn both() {
    let task = tokio::spawn(length("/etc/hostname"));
    tokio::time::sleep(std::time::Duration::from_millis(1)).await;
    println!("{:?}", task.await);
}

fn main() {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build();
    runtime.unwrap().block_on(both());
}
"""
TOKIO_RT = 'tokio = { version = "1", default-features = false, features = ["rt", "time"] }\n'
BLOCKING_LOOP = LOOP.format(head="", sleep="std::thread::sleep", wait="")
ASYNC_LOOP = LOOP.format(head="async", sleep="tokio::time::sleep", wait=".await")

# Name, title, dependencies, source.
PROGRAMS = [
    ("blocking-by-hand", "blocking, by hand", "", READ + BLOCKING_LOOP + MAIN),
    ("blocking-retry", "blocking, `#[retry]`", RETRY, READ + ANNOTATED.format(head="") + MAIN),
    ("async-by-hand", "async, by hand", TOKIO_RT, READ + ASYNC_LOOP + ASYNC_MAIN),
    ("async-retry", "async, `#[retry]`", RETRY + TOKIO_RT, READ + ANNOTATED.format(head="async") + ASYNC_MAIN),
]
