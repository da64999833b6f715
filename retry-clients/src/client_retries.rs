use std::borrow::Cow;
use std::fmt;
use std::future::{pending, poll_fn};
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::task::Poll;
use std::time::Duration;

use retry_runtime::seam::{AdmissionControl, RetryBudget};
use retry_runtime::{Event, Policy, Verdict};

use crate::http::{Outcome, classify};

mod attempts;
pub(crate) mod failed;
pub(crate) mod hooks;
pub(crate) mod run;

pub(crate) type Budget = dyn RetryBudget + Send + Sync;
pub(crate) type Control = dyn AdmissionControl + Send + Sync;
type Watcher = dyn Fn(&Event<'_>) + Send + Sync;
type Cancelled = Pin<Box<dyn Future<Output = ()> + Send>>;
type Canceller = dyn Fn() -> Cancelled + Send + Sync;
type Judge = dyn Fn(Outcome<'_>) -> Option<Verdict> + Send + Sync;

/// The settings for retrying the requests of a whole client: a policy and other keys.
///
/// A [`RetryLayer`](crate::tower::RetryLayer) and a [`RetryMiddleware`](crate::reqwest_middleware::RetryMiddleware) are
/// created from these settings, or from a [`Policy`] alone. Clones share the budget, the breaker and the limiter: use
/// clones for all clients of the same server.
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
/// The keys have the same meaning as in the attribute. A call is one request by the client's user. The policy's
/// `timeout` ends an attempt whose response has not started in time; it doesn't limit the rest of the body.
///
/// A response that is not worth a retry, such as a 404, is returned. If the first attempt gets it, the call counts as a
/// success. If you set a `fallback`, it replaces such a response, too.
#[derive(Clone)]
pub struct ClientRetries {
    pub(crate) policy: Policy,
    /// True if the policy's `timeout` limits each attempt.
    pub(crate) times_out: bool,
    pub(crate) ready_within: Option<Duration>,
    pub(crate) name: Option<Cow<'static, str>>,
    pub(crate) budget: Option<Arc<Budget>>,
    pub(crate) breaker: Option<Arc<Control>>,
    pub(crate) limiter: Option<Arc<Control>>,
    pub(crate) observer: Option<Arc<Watcher>>,
    pub(crate) is_spanned: bool,
    pub(crate) cancelled: Option<Arc<Canceller>>,
    pub(crate) repeats: Repeats,
    pub(crate) recorded: usize,
    pub(crate) read: usize,
    judge: Arc<Judge>,
}

/// The requests that are sent again after an ambiguous failure.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Repeats {
    All,
    IdempotentMethods,
    None,
}

impl ClientRetries {
    /// The default of [`record_bodies`](Self::record_bodies): 1 MiB, like the `perRpcBufferLimit` of grpc-java.
    pub const RECORDED: usize = 1024 * 1024;

    /// Creates settings with this policy.
    pub fn new(policy: Policy) -> Self {
        Self {
            policy,
            times_out: true,
            ready_within: None,
            name: None,
            budget: None,
            breaker: None,
            limiter: None,
            observer: None,
            is_spanned: false,
            cancelled: None,
            repeats: Repeats::All,
            recorded: Self::RECORDED,
            read: 0,
            judge: Arc::new(classify),
        }
    }

    /// Sets the name of calls in the log and for observers. By default, each call is named after its first request:
    /// `GET api.example`, or `package.Service/Method` with gRPC. The name doesn't contain the path, which may contain
    /// secrets and often differs for each item.
    pub fn name(mut self, name: impl Into<Cow<'static, str>>) -> Self {
        self.name = Some(name.into());
        self
    }

    /// Sets the function that decides which outcomes are failures, and which of these to retry. `None` is a success.
    /// The default is [`classify`].
    ///
    /// An outcome is a response, or an error of the inner service. To change the verdict on some outcomes, pass the
    /// others to `classify`:
    ///
    /// ```
    /// use http::StatusCode;
    /// use retry_clients::{ClientRetries, http::classify};
    /// use retry_runtime::{Policy, Verdict};
    ///
    /// // This server's 404 is temporary: a new item is not visible at once.
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
        self.judge = Arc::new(judge);
        self
    }

    /// Reads up to `most` bytes of each response's body before the response is classified, for
    /// [`Answer::body`](crate::http::Answer::body). The caller still gets the whole body. Default 0.
    ///
    /// gRPC responses and streams are not read, because their consumers need each part immediately. A stream is
    /// recognized by its `Content-Type`: it contains `stream` (but not `octet-stream`), `ndjson`, `jsonl`, `json-seq`,
    /// `connect+` or `multipart/`. If a server streams another type, such as plain JSON, don't read its bodies. Callers
    /// get a response only after the body was read, so read bodies only if they contain errors that the status hides.
    pub fn read_bodies(mut self, most: usize) -> Self {
        self.read = most;
        self
    }

    /// Sets the maximum size of a request's body, in bytes, that is recorded while it is sent, so that it can be sent
    /// again. A longer body is sent once: instead of a retry, the call ends with
    /// [`Reason::Unrepeatable`](retry_runtime::Reason::Unrepeatable), and the log shows why. In-memory bodies are not
    /// limited. Default [`RECORDED`](Self::RECORDED).
    ///
    /// A hook can't replace a recorded body: retries replay the recording.
    pub fn record_bodies(mut self, most: usize) -> Self {
        self.recorded = most;
        self
    }

    /// With `false`, a request is not sent again after an ambiguous failure. Default true.
    pub fn idempotent(mut self, idempotent: bool) -> Self {
        self.repeats = if idempotent {
            Repeats::All
        } else {
            Repeats::None
        };
        self
    }

    /// After an ambiguous failure, resends only requests with an idempotent method (RFC 9110, 9.2.2: not `POST`,
    /// `PATCH` or `CONNECT`) or an `Idempotency-Key`. Checks only a call's first request, even if a hook changes it.
    pub fn idempotent_methods(mut self) -> Self {
        self.repeats = Repeats::IdempotentMethods;
        self
    }

    /// Sets the budget that pays for retries.
    pub fn budget(mut self, budget: impl RetryBudget + Send + Sync + 'static) -> Self {
        self.budget = Some(Arc::new(budget));
        self
    }

    /// Sets the circuit breaker. While it is open, a call fails with [`Rejected`](retry_runtime::Rejected).
    pub fn breaker(mut self, breaker: impl AdmissionControl + Send + Sync + 'static) -> Self {
        self.breaker = Some(Arc::new(breaker));
        self
    }

    /// Sets the limiter that attempts wait for. If the wait would be too long, a call fails with
    /// [`Rejected`](retry_runtime::Rejected).
    pub fn limiter(mut self, limiter: impl AdmissionControl + Send + Sync + 'static) -> Self {
        self.limiter = Some(Arc::new(limiter));
        self
    }

    /// Limits each wait of a [`RetryLayer`](crate::tower::RetryLayer) for its service to become ready, including the
    /// wait before the first attempt. If the service is not ready in time, the request was not sent, and the call may
    /// retry. If the call gives up, it ends with [`TimedOut`](retry_runtime::TimedOut).
    ///
    /// By default, the wait before a retry is limited by the policy's `timeout`, and the layer itself is not ready
    /// before its service is. With this setting, the layer is always ready, so a load balancer above it can't detect
    /// load.
    pub fn ready_within(mut self, limit: Duration) -> Self {
        self.ready_within = Some(limit);
        self
    }

    /// Calls `observe` with every event, in addition to the log. For an [`Observer`](retry_runtime::Observer), pass
    /// `move |event| observer.observe(event)`.
    pub fn observe(mut self, observe: impl Fn(&Event<'_>) + Send + Sync + 'static) -> Self {
        self.observer = Some(Arc::new(observe));
        self
    }

    /// With `true`, opens a [span](retry_runtime::chain::PolicyCall::span) of `tracing` for each call, and inside it
    /// one for each attempt. Log records of the inner service then show their call and attempt. Default false. Needs
    /// the feature `tracing` of `retry-runtime`, which is on by default.
    pub fn span(mut self, is_on: bool) -> Self {
        self.is_spanned = is_on;
        self
    }

    /// Cancels calls: once the future is ready, a call's pause ends, and so does its wait for the limiter or the
    /// service. The call ends with its last outcome, or, if it has none, with [`Rejected`](retry_runtime::Rejected). A
    /// running attempt is not dropped.
    ///
    /// The function is called before each pause and each wait, and after each failure and rejection. So once one of its
    /// futures is ready, all later futures must be ready, too, as with a cancellation token:
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

    /// Waits until the future is ready. Returns `None` if calls are cancelled first.
    pub(crate) async fn unless_cancelled<F: Future>(&self, wait: F) -> Option<F::Output> {
        let (mut wait, mut cancelled) = (pin!(wait), self.cancelled());
        poll_fn(|context| match cancelled.as_mut().poll(context) {
            Poll::Ready(()) => Poll::Ready(None),
            Poll::Pending => wait.as_mut().poll(context).map(Some),
        })
        .await
    }

    pub(crate) fn judge(&self, outcome: Outcome<'_>) -> Option<Verdict> {
        (self.judge)(outcome)
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
