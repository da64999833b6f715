use std::borrow::Cow;
use std::fmt;
use std::future::{pending, poll_fn};
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::task::Poll;
use std::time::Duration;

use retry_runtime::{AdmissionControl, Event, Policy, RetryBudget, Verdict};

use crate::http::{Outcome, classify};

mod attempts;
pub(crate) mod failed;
pub(crate) mod hooks;
pub(crate) mod run;

pub(crate) type Budget = dyn RetryBudget + Send + Sync;
pub(crate) type Breaker = dyn AdmissionControl + Send + Sync;
pub(crate) type Queue = dyn AdmissionControl + Send + Sync;
type Watcher = dyn Fn(&Event<'_>) + Send + Sync;
type Cancelled = Pin<Box<dyn Future<Output = ()> + Send>>;
type Canceller = dyn Fn() -> Cancelled + Send + Sync;
type Judge = dyn Fn(Outcome<'_>) -> Option<Verdict> + Send + Sync;

/// How the requests of a whole client are retried: a policy, and the keys beside it.
///
/// A [`RetryLayer`](crate::tower::RetryLayer) and a [`RetryMiddleware`](crate::reqwest_middleware::RetryMiddleware) are
/// made of it, or of a [`Policy`] alone. A clone shares the budget, the breaker and the limiter: give each client of
/// one server a clone.
///
/// ```
/// use std::time::Duration;
/// use retry_clients::ClientRetries;
/// use retry_protections::Breaker;
/// use retry_runtime::{Budget, Policy};
///
/// static BUDGET: Budget = Budget::ratio(0.1);
/// static BREAKER: Breaker = Breaker::new();
///
/// let policy = Policy::new().max(5).timeout(Duration::from_secs(30));
/// let retries = ClientRetries::new(policy)
///     .name("github")
///     .budget(&BUDGET)
///     .breaker(&BREAKER)
///     .idempotent_methods();
/// # let _ = retries;
/// ```
///
/// Keys mean what they mean in the attribute, and a call is one request of the client's user. The policy's `timeout`
/// ends an attempt whose answer has not begun in time; what follows of a body is not limited.
///
/// An answer that is not worth a retry, such as a 404, is handed on. Unless attempts failed before, that is a success. A
/// `fallback`, where one is named, replaces such an answer, too.
#[derive(Clone)]
pub struct ClientRetries {
    pub(crate) policy: Policy,
    /// The time of each attempt.
    pub(crate) limit: Option<Duration>,
    pub(crate) name: Option<Cow<'static, str>>,
    pub(crate) budget: Option<Arc<Budget>>,
    pub(crate) breaker: Option<Arc<Breaker>>,
    pub(crate) limiter: Option<Arc<Queue>>,
    pub(crate) observer: Option<Arc<Watcher>>,
    pub(crate) cancelled: Option<Arc<Canceller>>,
    pub(crate) repeats: Repeats,
    pub(crate) recorded: usize,
    pub(crate) read: usize,
    judge: Option<Arc<Judge>>,
}

/// Which requests are sent again though they may have taken effect.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Repeats {
    All,
    OfIdempotentMethods,
    None,
}

impl ClientRetries {
    /// How much of a request's body is recorded by default: 1 MiB, the `perRpcBufferLimit` of grpc-java.
    pub const RECORDED: usize = 1024 * 1024;

    /// Retries by that policy.
    pub fn new(policy: Policy) -> Self {
        Self {
            policy,
            limit: policy.attempt_limit(),
            name: None,
            budget: None,
            breaker: None,
            limiter: None,
            observer: None,
            cancelled: None,
            repeats: Repeats::All,
            recorded: Self::RECORDED,
            read: 0,
            judge: None,
        }
    }

    /// The name of calls in the log and for observers. By default, each call is named after its first request:
    /// `GET api.example`, or `package.Service/Method` with gRPC. Never by a path, which may hold secrets, and would
    /// differ for each item.
    pub fn name(mut self, name: impl Into<Cow<'static, str>>) -> Self {
        self.name = Some(name.into());
        self
    }

    /// Which outcomes are failures, and which of these are worth a retry: `None` is a success. The default is
    /// [`classify`].
    ///
    /// An outcome is an answer, or the error of the service below. To change some of them, leave the others to
    /// `classify`:
    ///
    /// ```
    /// use http::StatusCode;
    /// use retry_clients::{ClientRetries, http::classify};
    /// use retry_runtime::{Policy, Verdict};
    ///
    /// // This server's 404 passes: it writes first, and answers later.
    /// let retries = ClientRetries::new(Policy::new()).on(|outcome| match outcome {
    ///     Ok(answer) if answer.status() == StatusCode::NOT_FOUND => {
    ///         Some(Verdict::TRANSIENT)
    ///     }
    ///     outcome => classify(outcome),
    /// });
    /// # let _ = retries;
    /// ```
    pub fn on<F>(mut self, judge: F) -> Self
    where
        F: Fn(Outcome<'_>) -> Option<Verdict> + Send + Sync + 'static,
    {
        self.judge = Some(Arc::new(judge));
        self
    }

    /// Reads the body of each answer, up to that many bytes, before its outcome is known:
    /// [`Answer::body`](crate::http::Answer::body). Then it is handed on with all the rest. Default 0: bodies are not read.
    ///
    /// Answers by gRPC and streams are not read, since their users want each part at once. A stream is known by its
    /// `Content-Type`: if it has `stream` in it (but not `octet-stream`), `ndjson`, `jsonl`, `json-seq`, `connect+` or
    /// `multipart/`. Where a server streams any other type, such as plain JSON, don't name this for its requests.
    /// The answer is known as late as its body, so name this only where the body says what the status does not.
    pub fn read_bodies(mut self, most: usize) -> Self {
        self.read = most;
        self
    }

    /// How much of a request's body is recorded while it is sent, in bytes, to send it again. A longer body is sent
    /// once: where a retry would follow, the call ends with
    /// [`Reason::Unrepeatable`](retry_runtime::Reason::Unrepeatable), and the log says why. Bodies that are in memory
    /// anyway are not limited. Default [`RECORDED`](Self::RECORDED).
    ///
    /// A hook can't replace a recorded body: retries replay what was recorded.
    pub fn record_bodies(mut self, most: usize) -> Self {
        self.recorded = most;
        self
    }

    /// Whether a request is sent again after an ambiguous failure. Default true, as everywhere.
    pub fn idempotent(mut self, idempotent: bool) -> Self {
        self.repeats = if idempotent {
            Repeats::All
        } else {
            Repeats::None
        };
        self
    }

    /// After an ambiguous failure, resends only requests whose method is idempotent (RFC 9110, 9.2.2: not `POST`,
    /// `PATCH` and `CONNECT`), or that have an `Idempotency-Key`. A call's first request decides, whatever a hook changes.
    pub fn idempotent_methods(mut self) -> Self {
        self.repeats = Repeats::OfIdempotentMethods;
        self
    }

    /// What retries are paid from.
    pub fn budget(mut self, budget: impl RetryBudget + Send + Sync + 'static) -> Self {
        self.budget = Some(Arc::new(budget));
        self
    }

    /// What lets attempts through. While it is open, a call fails with [`Rejected`](retry_runtime::Rejected).
    pub fn breaker(mut self, breaker: impl AdmissionControl + Send + Sync + 'static) -> Self {
        self.breaker = Some(Arc::new(breaker));
        self
    }

    /// What attempts wait for. If the wait would be too long, a call fails with [`Rejected`](retry_runtime::Rejected).
    pub fn limiter(mut self, limiter: impl AdmissionControl + Send + Sync + 'static) -> Self {
        self.limiter = Some(Arc::new(limiter));
        self
    }

    /// Calls this with every event, besides the log. For an [`Observer`](retry_runtime::Observer):
    /// `move |event| observer.observe(event)`.
    pub fn observe(mut self, observe: impl Fn(&Event<'_>) + Send + Sync + 'static) -> Self {
        self.observer = Some(Arc::new(observe));
        self
    }

    /// Cancels calls: once the future is ready, a call's pause ends, and so does its wait for the limiter or the
    /// service. A call ends with the outcome that it had last, and one that has none with
    /// [`Rejected`](retry_runtime::Rejected). An attempt under way is not dropped.
    ///
    /// The function is called before each pause and each wait, and after each failure and rejection. So its future must stay
    /// ready, as a token's does:
    ///
    /// ```
    /// use retry_clients::ClientRetries;
    /// use retry_runtime::Policy;
    /// use tokio_util::sync::CancellationToken;
    ///
    /// let shutdown = CancellationToken::new();
    /// let token = shutdown.clone();
    /// let retries = ClientRetries::new(Policy::new())
    ///     .cancel(move || token.clone().cancelled_owned());
    /// # let _ = retries;
    /// ```
    pub fn cancel<F, C>(mut self, cancelled: F) -> Self
    where
        F: Fn() -> C + Send + Sync + 'static,
        C: Future<Output = ()> + Send + 'static,
    {
        self.cancelled = Some(Arc::new(move || Box::pin(cancelled())));
        self
    }

    /// Completes once calls are cancelled.
    pub(crate) fn cancelled(&self) -> Cancelled {
        match &self.cancelled {
            Some(cancelled) => cancelled(),
            None => Box::pin(pending()),
        }
    }

    /// Waits until the future is ready. `None` if calls are cancelled first.
    pub(crate) async fn unless_cancelled<F: Future>(&self, wait: F) -> Option<F::Output> {
        let (mut wait, mut cancelled) = (pin!(wait), self.cancelled());
        poll_fn(|context| match cancelled.as_mut().poll(context) {
            Poll::Ready(()) => Poll::Ready(None),
            Poll::Pending => wait.as_mut().poll(context).map(Some),
        })
        .await
    }

    pub(crate) fn judge(&self, outcome: Outcome<'_>) -> Option<Verdict> {
        match &self.judge {
            Some(judge) => judge(outcome),
            None => classify(outcome),
        }
    }
}

impl From<Policy> for ClientRetries {
    fn from(policy: Policy) -> Self {
        Self::new(policy)
    }
}

impl fmt::Debug for ClientRetries {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ClientRetries")
            .field("policy", &self.policy)
            .field("name", &self.name)
            .finish_non_exhaustive()
    }
}
