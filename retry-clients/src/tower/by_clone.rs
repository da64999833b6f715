use std::borrow::Cow;
use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll};
use std::time::Duration;

use retry_runtime::seam::{AdmissionControl, RetryBudget};
use retry_runtime::{Event, Policy, Rejected, TimedOut, Verdict};
use tower_service::Service;

use super::{Called, Hooked, Hooks, Retry, RetryLayer, Unhooked};
use crate::ClientRetries;
use crate::client_retries::run::Keys;
use crate::repeat::{Judged, Repeat, Unrepeatable};

/// The default name of calls.
pub(super) const NAME: &str = "request";

type Judge<A, E> = dyn for<'a> Fn(Result<&'a A, &'a E>) -> Option<Verdict> + Send + Sync;

/// Functions that create the error of a call that ends without an error of the service.
type Errors<E> = (fn(Rejected) -> E, fn(TimedOut) -> E);

/// Sends requests of any `Clone` type again, to a service that returns `Result<A, E>`.
pub struct ByClone<A, E> {
    judge: Arc<Judge<A, E>>,
    /// `None` if no call can end without an error of the service.
    errors: Option<Errors<E>>,
}

impl<A, E> RetryLayer<ByClone<A, E>> {
    /// Creates a layer that retries requests of any `Clone` type, over a service that returns `Result<A, E>`. `on`
    /// decides which outcomes are failures, and which of these to retry. `None` is a success. The log shows an error's
    /// `Display` text.
    ///
    /// ```
    /// use std::io;
    /// use retry_clients::tower::RetryLayer;
    /// use retry_runtime::{Classify, Policy};
    /// use tower::{ServiceBuilder, ServiceExt, service_fn};
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> io::Result<()> {
    /// let on = |outcome: Result<&usize, &io::Error>| outcome.err().map(Classify::classify);
    /// let service = ServiceBuilder::new()
    ///     .layer(RetryLayer::cloning(Policy::new().max(5), on).name("length"))
    ///     .service(service_fn(async |text: String| Ok(text.len())));
    /// assert_eq!(service.oneshot(String::from("hello")).await?, 5);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// Calls return only the service's own errors, unless you set [`breaker`](Self::breaker),
    /// [`limiter`](Self::limiter), [`ready_within`](Self::ready_within) or [`policy_timeout`](Self::policy_timeout).
    /// Without `policy_timeout`, the policy's `timeout` is ignored, and a warning is logged.
    pub fn cloning<F>(policy: Policy, on: F) -> Self
    where
        F: for<'a> Fn(Result<&'a A, &'a E>) -> Option<Verdict> + Send + Sync + 'static,
    {
        let mut retries = ClientRetries::new(policy);
        retries.times_out = false;
        Self {
            retries,
            by: ByClone {
                judge: Arc::new(on),
                errors: None,
            },
            hooks: Unhooked,
        }
    }
}

impl<A, E, H> RetryLayer<ByClone<A, E>, H> {
    /// Like [`ClientRetries::name`]. By default, calls are named `request`.
    pub fn name(self, name: impl Into<Cow<'static, str>>) -> Self {
        self.with(|retries| retries.name(name))
    }

    /// Like [`ClientRetries::idempotent`].
    pub fn idempotent(self, idempotent: bool) -> Self {
        self.with(|retries| retries.idempotent(idempotent))
    }

    /// Like [`ClientRetries::budget`].
    pub fn budget(self, budget: impl RetryBudget + Send + Sync + 'static) -> Self {
        self.with(|retries| retries.budget(budget))
    }

    /// Like [`ClientRetries::observe`].
    pub fn observe(self, observe: impl Fn(&Event<'_>) + Send + Sync + 'static) -> Self {
        self.with(|retries| retries.observe(observe))
    }

    /// Like [`ClientRetries::cancel`].
    pub fn cancel<F, C>(self, cancelled: F) -> Self
    where
        F: Fn() -> C + Send + Sync + 'static,
        C: Future<Output = ()> + Send + 'static,
    {
        self.with(|retries| retries.cancel(cancelled))
    }

    /// Like [`ClientRetries::span`].
    pub fn span(self, is_on: bool) -> Self {
        self.with(|retries| retries.span(is_on))
    }

    fn with(mut self, set: impl FnOnce(ClientRetries) -> ClientRetries) -> Self {
        self.retries = set(self.retries);
        self
    }
}

/// These settings let a call end without an error of the service, so the error type must implement `From<Rejected>` and
/// `From<TimedOut>`.
impl<A, E: From<Rejected> + From<TimedOut>, H> RetryLayer<ByClone<A, E>, H> {
    /// Like [`ClientRetries::breaker`].
    pub fn breaker(self, breaker: impl AdmissionControl + Send + Sync + 'static) -> Self {
        self.with_errors().with(|retries| retries.breaker(breaker))
    }

    /// Like [`ClientRetries::limiter`].
    pub fn limiter(self, limiter: impl AdmissionControl + Send + Sync + 'static) -> Self {
        self.with_errors().with(|retries| retries.limiter(limiter))
    }

    /// Like [`ClientRetries::ready_within`].
    pub fn ready_within(self, limit: Duration) -> Self {
        self.with_errors()
            .with(|retries| retries.ready_within(limit))
    }

    /// Ends each attempt after the policy's `timeout`.
    pub fn policy_timeout(mut self) -> Self {
        self.retries.times_out = true;
        self.with_errors()
    }

    fn with_errors(mut self) -> Self {
        self.by.errors = Some((E::from, E::from));
        self
    }
}

impl<A, E> Clone for ByClone<A, E> {
    fn clone(&self) -> Self {
        Self {
            judge: Arc::clone(&self.judge),
            errors: self.errors,
        }
    }
}

opaque!(ByClone<A, E>);

impl<S, Q, H> Service<Q> for Retry<S, ByClone<S::Response, S::Error>, H>
where
    Q: Clone + Send + 'static,
    S: Service<Q, Error: fmt::Display + Send, Future: Send, Response: Send>
        + Clone
        + Send
        + 'static,
    H: Hooked<Q, S::Response, S::Error> + 'static,
{
    type Response = S::Response;
    type Error = S::Error;
    type Future = Called<S::Response, S::Error>;

    fn poll_ready(&mut self, context: &mut Context<'_>) -> Poll<Result<(), S::Error>> {
        self.poll_service(context)
    }

    fn call(&mut self, request: Q) -> Self::Future {
        self.send(request)
    }
}

impl<Q, A, E, H> Keys<Q, A, E> for RetryLayer<ByClone<A, E>, H>
where
    Q: Clone + Send,
    A: Send,
    E: fmt::Display + Send,
    H: Hooked<Q, A, E>,
{
    type Request = Cloned<Q, A, E>;
    type Answer = A;
    type Error = E;
    /// Every outcome with a verdict from `on` is a failure, retried or not.
    const RETURNS_FIRST_ANSWER: bool = false;

    fn retries(&self) -> &ClientRetries {
        &self.retries
    }

    fn hooks(&self) -> Option<&Hooks<Q, A, E>> {
        self.hooks.hooks()
    }

    fn wrap(&self, request: Q) -> Cloned<Q, A, E> {
        Cloned {
            request,
            judge: Arc::clone(&self.by.judge),
        }
    }

    fn unwrap(cloned: Cloned<Q, A, E>) -> Q {
        cloned.request
    }

    fn request(cloned: &mut Cloned<Q, A, E>) -> &mut Q {
        &mut cloned.request
    }

    fn error(error: E) -> E {
        error
    }

    fn rejected(&self, rejected: Rejected) -> E {
        self.by.errors.expect("set with the breaker or limiter").0(rejected)
    }

    fn timed_out(&self, timed_out: TimedOut) -> E {
        self.by.errors.expect("set with the limit").1(timed_out)
    }

    fn verdict(&self, error: &E) -> Option<Verdict> {
        (self.by.judge)(Err(error))
    }

    fn describe(error: &E) -> String {
        error.to_string()
    }
}

/// A request, and the function that classifies its responses.
pub(crate) struct Cloned<Q, A, E> {
    request: Q,
    judge: Arc<Judge<A, E>>,
}

impl<Q: Clone + Send, A: Send, E> Repeat<A> for Cloned<Q, A, E> {
    /// The request is behind a lock, because it may not be `Sync`.
    type Kept = (Mutex<Q>, Arc<Judge<A, E>>);
    type Answer = A;

    fn keep(self, _: usize) -> (Self, Self::Kept) {
        let kept = (Mutex::new(self.request.clone()), Arc::clone(&self.judge));
        (self, kept)
    }

    fn again((request, judge): &Self::Kept, _: u32) -> Result<Self, Unrepeatable> {
        let request = request
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .clone();
        let judge = Arc::clone(judge);
        Ok(Self { request, judge })
    }

    async fn judge((_, judge): &Self::Kept, answer: A, _: &ClientRetries) -> Judged<A> {
        match judge(Ok(&answer)) {
            None => Judged::success(answer),
            Some(verdict) => Judged::failure(answer, verdict, "response rejected"),
        }
    }

    fn name(_: &Self::Kept) -> Cow<'_, str> {
        Cow::Borrowed(NAME)
    }
}
