//! A middleware of [`reqwest-middleware`](https://docs.rs/reqwest-middleware/0.5) 0.5, for reqwest 0.13.

use std::error::Error as StdError;
use std::sync::Arc;

use async_trait::async_trait;
use http::Extensions;
use reqwest::{Request, Response};
use reqwest_middleware::{Error, Middleware, Next};
use retry_runtime::{Policy, Rejected, TimedOut, Verdict};

use crate::ClientRetries;
use crate::client_retries::failed::WithCauses;
pub use crate::client_retries::hooks::{FallbackFuture, GaveUp, Hook, HookFuture, Hooks};
use crate::client_retries::run::{Keys, Sender, run};

/// Retries every request of a client. Replaces `reqwest_retry`'s `RetryTransientMiddleware`.
///
/// ```
/// use reqwest_middleware::ClientBuilder;
/// use retry_clients::reqwest_middleware::RetryMiddleware;
/// use retry_runtime::Policy;
///
/// # fn main() -> reqwest::Result<()> {
/// let one_each = reqwest::Client::builder().retry(reqwest::retry::never());
/// let client = ClientBuilder::new(one_each.build()?)
///     .with(RetryMiddleware::new(Policy::new().max(5)))
///     .build();
/// # let _ = client;
/// # Ok(())
/// # }
/// ```
///
/// A request whose body is a stream is recorded while it is sent: see [`ClientRetries::record_bodies`]. A call that was
/// rejected or timed out ends with [`Error::Middleware`], which contains a [`Rejected`] or a [`TimedOut`].
///
/// [`ClientRetries::record_bodies`]: crate::ClientRetries::record_bodies
#[derive(Clone, Debug)]
pub struct RetryMiddleware {
    retries: ClientRetries,
    hooks: Hooks<Request, Response, Error>,
}

impl RetryMiddleware {
    /// Creates a middleware with a policy, or with the settings of a [`ClientRetries`].
    pub fn new(retries: impl Into<ClientRetries>) -> Self {
        Self {
            retries: retries.into(),
            hooks: Hooks::default(),
        }
    }

    /// Sets the function that chooses the policy of each call. It gets the call's first request and the middleware's
    /// policy, and may return that policy, a changed copy, or another policy.
    ///
    /// ```
    /// use retry_clients::reqwest_middleware::RetryMiddleware;
    /// use retry_runtime::Policy;
    ///
    /// let retries = RetryMiddleware::new(Policy::new().max(5));
    /// let retries = retries.policy_for(|request, policy| match request.method().as_str() {
    ///     "POST" => policy.max(1),
    ///     _ => *policy,
    /// });
    /// # let _ = retries;
    /// ```
    pub fn policy_for<F>(self, policy_for: F) -> Self
    where
        F: Fn(&Request, &Policy) -> Policy + Send + Sync + 'static,
    {
        self.with_hooks(|hooks| hooks.policy_for = Some(Arc::new(policy_for)))
    }

    /// Sets a hook that runs as soon as a retry is decided, before the pause. It gets the request that will be sent,
    /// the outcome of the attempt, and a [`NextAttempt`](retry_runtime::own_loop::NextAttempt).
    ///
    /// Changes to the request, errors and the hook's time are handled as in [`before_retry`](Self::before_retry).
    pub fn before_pause(self, hook: impl Hook<Request, Response, Error>) -> Self {
        self.with_hooks(|hooks| hooks.before_pause = Some(Arc::new(hook)))
    }

    /// Sets a hook that runs before each retry, after the pause. It gets the request that will be sent, the outcome of
    /// the attempt, and a [`NextAttempt`](retry_runtime::own_loop::NextAttempt). It may change the request, for all
    /// later retries, but not replace a recorded body. An `Err` ends the call with the outcome of the attempt and
    /// [`Reason::HookFailed`](retry_runtime::Reason::HookFailed). The hook's time counts against the deadline.
    ///
    /// ```
    /// use retry_clients::reqwest_middleware::RetryMiddleware;
    /// use retry_runtime::Policy;
    ///
    /// let retries = RetryMiddleware::new(Policy::new()).before_retry(
    ///     |request, _outcome, next| {
    ///         Box::pin(async move {
    ///             request.headers_mut().insert("x-attempt", next.number().into());
    ///             Ok(())
    ///         })
    ///     },
    /// );
    /// # let _ = retries;
    /// ```
    pub fn before_retry(self, hook: impl Hook<Request, Response, Error>) -> Self {
        self.with_hooks(|hooks| hooks.before_retry = Some(Arc::new(hook)))
    }

    /// Sets the fallback. Its outcome replaces the outcome of a call that gave up, for any
    /// [`Reason`](retry_runtime::Reason), even if the call got a response that is not worth a retry, such as a 404. The
    /// function gets the request as a retry would send it, or `None` if its body can't be sent again, and a `GaveUp`.
    ///
    /// ```
    /// use retry_clients::reqwest_middleware::RetryMiddleware;
    /// use retry_runtime::Policy;
    ///
    /// let retries = RetryMiddleware::new(Policy::new()).fallback(|request, gave_up| {
    ///     let is_front_page = request.is_some_and(|request| request.url().path() == "/");
    ///     Box::pin(async move {
    ///         match gave_up.outcome {
    ///             Err(_) if is_front_page => Ok(http::Response::new("back soon").into()),
    ///             outcome => outcome,
    ///         }
    ///     })
    /// });
    /// # let _ = retries;
    /// ```
    ///
    /// If the fallback returns `Ok`, the log shows the call as `fell back`, even if the `Ok` contains the failed
    /// response.
    pub fn fallback<F>(self, fallback: F) -> Self
    where
        F: Fn(Option<Request>, GaveUp<Response, Error>) -> FallbackFuture<Response, Error>
            + Send
            + Sync
            + 'static,
    {
        self.with_hooks(|hooks| hooks.fallback = Some(Arc::new(fallback)))
    }

    fn with_hooks(mut self, set: impl FnOnce(&mut Hooks<Request, Response, Error>)) -> Self {
        set(&mut self.hooks);
        self
    }
}

#[async_trait]
impl Middleware for RetryMiddleware {
    async fn handle(
        &self,
        request: Request,
        extensions: &mut Extensions,
        next: Next<'_>,
    ) -> Result<Response, Error> {
        run(self, NextSender { next, extensions }, request).await
    }
}

struct NextSender<'a> {
    next: Next<'a>,
    extensions: &'a mut Extensions,
}

impl Sender<Request> for NextSender<'_> {
    type Answer = Response;
    type Error = Error;

    async fn ready(&mut self) -> Result<(), Error> {
        Ok(())
    }

    fn give_up(&mut self) {}

    async fn send(&mut self, request: Request) -> Result<Response, Error> {
        self.next.clone().run(request, self.extensions).await
    }
}

impl Keys<Request, Response, Error> for RetryMiddleware {
    type Request = Request;
    type Answer = Response;
    type Error = Error;

    fn retries(&self) -> &ClientRetries {
        &self.retries
    }

    fn hooks(&self) -> Option<&Hooks<Request, Response, Error>> {
        Some(&self.hooks)
    }

    fn wrap(&self, request: Request) -> Request {
        request
    }

    fn unwrap(request: Request) -> Request {
        request
    }

    fn request(request: &mut Request) -> &mut Request {
        request
    }

    fn error(error: Error) -> Error {
        error
    }

    fn rejected(&self, rejected: Rejected) -> Error {
        Error::middleware(rejected)
    }

    fn timed_out(&self, timed_out: TimedOut) -> Error {
        Error::middleware(timed_out)
    }

    fn verdict(&self, error: &Error) -> Option<Verdict> {
        self.retries.judge(Err(as_error(error)))
    }

    fn describe(error: &Error) -> String {
        WithCauses(as_error(error)).to_string()
    }
}

fn as_error(error: &Error) -> &(dyn StdError + 'static) {
    match error {
        Error::Reqwest(error) => error,
        Error::Middleware(error) => error.as_ref(),
    }
}
