//! A tower layer that retries all requests of a client.
//!
// Link targets for the included page. The first definition of a label is used.
//! [classification]: https://docs.rs/retry-runtime/0.1/retry_runtime/guide/classification/
//! [outages]: https://docs.rs/retry-runtime/0.1/retry_runtime/guide/outages/
//! [clients]: https://docs.rs/retry-runtime/0.1/retry_runtime/guide/clients/
//! [sdk_authors]: https://docs.rs/retry-runtime/0.1/retry_runtime/guide/sdk_authors/
//! [spans]: https://docs.rs/retry-runtime/0.1/retry_runtime/guide/observing/#spans
//! [contents]: https://docs.rs/retry-runtime/0.1/retry_runtime/guide/
//!
#![cfg_attr(all(doc, checkout, any(feature = "_pages", not(doctest))), doc = include_str!("../../docs/whole_clients.md"))]
#![cfg_attr(all(doc, not(checkout), any(feature = "_pages", not(doctest))), doc = include_str!("../docs/whole_clients.md"))]

mod by_clone;
mod by_repeat;
mod hooked;
pub mod testing;

use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::{fmt, future, mem};

use retry_runtime::Policy;
use retry_runtime::macro_support::{drops_attempts, ignores_timeout};
use tower_layer::Layer;
use tower_service::Service;

use crate::ClientRetries;
pub use crate::client_retries::hooks::{FallbackFuture, GaveUp, Hook, HookFuture, Hooks};
use crate::client_retries::run::{Keys, Sender, run};
pub use by_clone::ByClone;
pub use by_repeat::ByRepeat;
pub use hooked::{Hooked, Unhooked};

/// Retries every request of the inner service.
///
/// `By` is the way requests are sent again. A layer created by [`new`](Self::new) retries requests that are
/// [`Repeat`](crate::repeat::Repeat), such as HTTP requests. A layer created by [`cloning`](Self::cloning) retries all
/// requests that are `Clone`. `H` is the type of the hooks.
#[derive(Clone, Debug)]
pub struct RetryLayer<By = ByRepeat, H = Unhooked> {
    retries: ClientRetries,
    by: By,
    hooks: H,
}

impl RetryLayer {
    /// Creates a layer with a policy, or with the settings of a [`ClientRetries`].
    pub fn new(retries: impl Into<ClientRetries>) -> Self {
        Self {
            retries: retries.into(),
            by: ByRepeat,
            hooks: Unhooked,
        }
    }
}

impl<By, H> RetryLayer<By, H> {
    /// Sets the function that chooses the policy of each call. It gets the call's first request and the layer's policy,
    /// and may return that policy, a changed copy, or another policy:
    ///
    /// ```
    /// use http::{Method, Request};
    /// use http_body_util::Full;
    /// use retry_clients::tower::RetryLayer;
    /// use retry_runtime::Policy;
    ///
    /// type Body = Full<bytes::Bytes>;
    ///
    /// let layer = RetryLayer::new(Policy::new().max(5));
    /// let layer = layer.policy_for(|request: &Request<Body>, policy| match *request.method() {
    ///     Method::POST => policy.max(1),
    ///     _ => *policy,
    /// });
    /// # fn is_layer<H>(_: RetryLayer<retry_clients::tower::ByRepeat, H>)
    /// # where
    /// #     H: retry_clients::tower::Hooked<
    /// #         Request<Body>,
    /// #         http::Response<retry_clients::http::PeekedBody<Body>>,
    /// #         retry_clients::BoxError,
    /// #     >,
    /// # {
    /// # }
    /// # is_layer(layer);
    /// ```
    ///
    /// The function is called once for each call. In a layer created by [`cloning`](Self::cloning), a chosen policy's
    /// `timeout` also applies only with [`policy_timeout`](Self::policy_timeout).
    pub fn policy_for<Q, A, E, F>(self, policy_for: F) -> RetryLayer<By, Hooks<Q, A, E>>
    where
        H: Into<Hooks<Q, A, E>>,
        F: Fn(&Q, &Policy) -> Policy + Send + Sync + 'static,
    {
        self.with_hooks(|hooks| hooks.policy_for = Some(Arc::new(policy_for)))
    }

    /// Sets a hook that runs as soon as a retry is decided, before the pause. It gets the request that will be sent,
    /// the outcome of the attempt, and a [`NextAttempt`](retry_runtime::own_loop::NextAttempt).
    ///
    /// Changes to the request, errors and the hook's time are handled as in [`before_retry`](Self::before_retry).
    pub fn before_pause<Q, A, E>(self, hook: impl Hook<Q, A, E>) -> RetryLayer<By, Hooks<Q, A, E>>
    where
        H: Into<Hooks<Q, A, E>>,
    {
        self.with_hooks(|hooks| hooks.before_pause = Some(Arc::new(hook)))
    }

    /// Sets a hook that runs before each retry, after the pause. It gets the request that will be sent, the outcome of
    /// the attempt, and a [`NextAttempt`](retry_runtime::own_loop::NextAttempt). Use it to put a new token into the
    /// request, or to shorten the request: all later retries send the changed request. But a recorded body can't be
    /// replaced: see [`ClientRetries::record_bodies`].
    ///
    /// An `Err` ends the call with the outcome of the attempt and
    /// [`Reason::HookFailed`](retry_runtime::Reason::HookFailed). The hook's time counts against the deadline.
    ///
    /// ```
    /// use retry_clients::BoxError;
    /// use retry_clients::tower::RetryLayer;
    /// use retry_runtime::{Policy, Verdict};
    ///
    /// # async fn refresh() -> Result<String, BoxError> { Ok(String::from("new")) }
    /// #[derive(Clone)]
    /// struct Ask {
    ///     token: String,
    /// }
    ///
    /// let on = |outcome: Result<&String, &BoxError>| outcome.err().map(|_| Verdict::TRANSIENT);
    /// let layer = RetryLayer::cloning(Policy::new(), on).before_retry(
    ///     |request: &mut Ask, _: Result<&String, &BoxError>, _next| {
    ///         Box::pin(async {
    ///             request.token = refresh().await?;
    ///             Ok(())
    ///         })
    ///     },
    /// );
    /// # let _ = layer;
    /// ```
    pub fn before_retry<Q, A, E>(self, hook: impl Hook<Q, A, E>) -> RetryLayer<By, Hooks<Q, A, E>>
    where
        H: Into<Hooks<Q, A, E>>,
    {
        self.with_hooks(|hooks| hooks.before_retry = Some(Arc::new(hook)))
    }

    /// Sets the fallback. Its outcome replaces the outcome of a call that gave up, for any
    /// [`Reason`](retry_runtime::Reason), even if the call got a response that is not worth a retry, such as a 404. The
    /// function gets the request as a retry would send it, or `None` if its body can't be sent again, and a `GaveUp`.
    ///
    /// If the fallback returns `Ok`, the log shows the call as `fell back`, even if the `Ok` contains the failed
    /// response.
    ///
    /// ```
    /// use retry_clients::tower::{GaveUp, RetryLayer};
    /// use retry_runtime::{Policy, Verdict};
    /// use tower::{Layer, ServiceExt, service_fn};
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() {
    /// let on = |outcome: Result<&usize, &String>| outcome.err().map(|_| Verdict::TRANSIENT);
    /// let layer = RetryLayer::cloning(Policy::none().max(3), on);
    /// let layer = layer.fallback(|_: Option<u32>, gave_up: GaveUp<usize, String>| {
    ///     Box::pin(async move {
    ///         let attempts = gave_up.attempts;
    ///         gave_up.outcome.map_err(|error| format!("{error} after {attempts} attempts"))
    ///     })
    /// });
    /// let busy = service_fn(async |_: u32| Err(String::from("busy")));
    /// let outcome = layer.layer(busy).oneshot(7).await;
    /// assert_eq!(outcome, Err(String::from("busy after 4 attempts")));
    /// # }
    /// ```
    pub fn fallback<Q, A, E, F>(self, fallback: F) -> RetryLayer<By, Hooks<Q, A, E>>
    where
        H: Into<Hooks<Q, A, E>>,
        F: Fn(Option<Q>, GaveUp<A, E>) -> FallbackFuture<A, E> + Send + Sync + 'static,
    {
        self.with_hooks(|hooks| hooks.fallback = Some(Arc::new(fallback)))
    }

    fn with_hooks<Q, A, E>(
        self,
        set: impl FnOnce(&mut Hooks<Q, A, E>),
    ) -> RetryLayer<By, Hooks<Q, A, E>>
    where
        H: Into<Hooks<Q, A, E>>,
    {
        let mut hooks = self.hooks.into();
        set(&mut hooks);
        RetryLayer {
            retries: self.retries,
            by: self.by,
            hooks,
        }
    }
}

impl<S, By: Clone, H: Clone> Layer<S> for RetryLayer<By, H> {
    type Service = Retry<S, By, H>;

    fn layer(&self, service: S) -> Retry<S, By, H> {
        if !self.retries.times_out && drops_attempts(&self.retries.policy) {
            ignores_timeout(self.retries.name.as_deref().unwrap_or(by_clone::NAME));
        }
        Retry {
            keys: Arc::new(self.clone()),
            service,
        }
    }
}

/// A service whose requests are retried. Created by [`RetryLayer`].
///
/// Under a layer created by [`RetryLayer::new`], the error is boxed, because a call can end without an error of the
/// service: with [`Rejected`](retry_runtime::Rejected) or [`TimedOut`](retry_runtime::TimedOut).
#[derive(Clone)]
pub struct Retry<S, By = ByRepeat, H = Unhooked> {
    keys: Arc<RetryLayer<By, H>>,
    service: S,
}

/// The future of a call.
type Called<A, E> = Pin<Box<dyn Future<Output = Result<A, E>> + Send>>;

type CalledBy<K, Q, A, E> = Called<<K as Keys<Q, A, E>>::Answer, <K as Keys<Q, A, E>>::Error>;

impl<S, By, H> Retry<S, By, H> {
    fn send<Q>(&mut self, request: Q) -> CalledBy<RetryLayer<By, H>, Q, S::Response, S::Error>
    where
        Q: Send + 'static,
        S: Service<Q, Error: Send, Future: Send, Response: Send> + Clone + Send + 'static,
        RetryLayer<By, H>: Keys<Q, S::Response, S::Error> + 'static,
    {
        // Use the service that is ready, because its clone may not be ready.
        let mut service = self.service.clone();
        mem::swap(&mut service, &mut self.service);
        let keys = Arc::clone(&self.keys);
        // With a limiter, don't hold the ready service's reservation while the call waits in the limiter's queue: a
        // retry that already had its turn may be waiting for the reservation.
        let is_ready = keys.retries.limiter.is_none() && keys.retries.ready_within.is_none();
        if !is_ready {
            service = self.service.clone();
        }
        let sender = ServiceSender { service, is_ready };
        Box::pin(run(keys, sender, request))
    }

    fn poll_service<Q>(&mut self, context: &mut Context<'_>) -> Poll<Result<(), S::Error>>
    where
        S: Service<Q>,
    {
        // With `ready_within`, the call waits until the service is ready.
        match self.keys.retries.ready_within {
            Some(_) => Poll::Ready(Ok(())),
            None => self.service.poll_ready(context),
        }
    }
}

impl<S, By, H> fmt::Debug for Retry<S, By, H> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Retry")
            .field("retries", &self.keys.retries)
            .finish_non_exhaustive()
    }
}

struct ServiceSender<S> {
    service: S,
    is_ready: bool,
}

impl<S, Q> Sender<Q> for ServiceSender<S>
where
    Q: Send,
    S: Service<Q, Error: Send, Future: Send, Response: Send> + Clone + Send,
{
    type Answer = S::Response;
    type Error = S::Error;

    async fn ready(&mut self) -> Result<(), S::Error> {
        if mem::take(&mut self.is_ready) {
            return Ok(());
        }
        future::poll_fn(|context| self.service.poll_ready(context)).await
    }

    fn give_up(&mut self) {
        self.service = self.service.clone();
    }

    async fn send(&mut self, request: Q) -> Result<S::Response, S::Error> {
        self.service.call(request).await
    }
}
