//! A layer of tower that retries a whole client.
//!
// Where the page links to the guide: the first definition counts.
//! [classification]: https://docs.rs/retry-runtime/0.1/retry_runtime/guide/classification/
//! [outages]: https://docs.rs/retry-runtime/0.1/retry_runtime/guide/outages/
//! [wrapping]: https://docs.rs/retry-runtime/0.1/retry_runtime/guide/wrapping/
//! [batches]: https://docs.rs/retry-runtime/0.1/retry_runtime/guide/batches/
//! [contents]: https://docs.rs/retry-runtime/0.1/retry_runtime/guide/
//!
#![cfg_attr(all(doc, checkout, any(feature = "_pages", not(doctest))), doc = include_str!("../../docs/whole_clients.md"))]
#![cfg_attr(all(doc, not(checkout), any(feature = "_pages", not(doctest))), doc = include_str!("../docs/whole_clients.md"))]

pub mod testing;

use std::error::Error;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::{fmt, future, mem};

use retry_runtime::{Rejected, TimedOut};
use tower_layer::Layer;
use tower_service::Service;

use crate::client_retries::run::{Sender, run};
use crate::repeat::Repeat;
use crate::{BoxError, ClientRetries};

/// Retries every request of the service below.
#[derive(Clone, Debug)]
pub struct RetryLayer(Arc<ClientRetries>);

impl RetryLayer {
    /// Retries by that policy, or by what [`ClientRetries`] names beside one.
    pub fn new(retries: impl Into<ClientRetries>) -> Self {
        Self(Arc::new(retries.into()))
    }
}

impl<S> Layer<S> for RetryLayer {
    type Service = Retry<S>;

    fn layer(&self, service: S) -> Retry<S> {
        Retry {
            retries: Arc::clone(&self.0),
            service,
        }
    }
}

/// A service whose requests are retried: what [`RetryLayer`] makes.
///
/// Its error is boxed, because a call can end without one of the service's: with
/// [`Rejected`] or [`TimedOut`].
#[derive(Clone)]
pub struct Retry<S> {
    retries: Arc<ClientRetries>,
    service: S,
}

impl<S, Q> Service<Q> for Retry<S>
where
    Q: Repeat<S::Response> + 'static,
    S: Service<Q, Error: Into<BoxError> + Send, Future: Send, Response: Send>
        + Clone
        + Send
        + 'static,
{
    type Response = Q::Answer;
    type Error = BoxError;
    type Future = Pin<Box<dyn Future<Output = Result<Q::Answer, BoxError>> + Send>>;

    fn poll_ready(&mut self, context: &mut Context<'_>) -> Poll<Result<(), BoxError>> {
        self.service.poll_ready(context).map_err(Into::into)
    }

    fn call(&mut self, request: Q) -> Self::Future {
        // The one that is ready: a clone need not be.
        let clone = self.service.clone();
        let ready = mem::replace(&mut self.service, clone);
        let retries = Arc::clone(&self.retries);
        // What the ready one has reserved must not be held in a queue: a retry waits for it with its turn in hand.
        let is_ready = retries.limiter.is_none();
        let service = if is_ready {
            ready
        } else {
            self.service.clone()
        };
        let sender = OfService { service, is_ready };
        Box::pin(run(retries, sender, request))
    }
}

impl<S> fmt::Debug for Retry<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Retry")
            .field("retries", &self.retries)
            .finish_non_exhaustive()
    }
}

struct OfService<S> {
    service: S,
    is_ready: bool,
}

impl<S, Q> Sender<Q> for OfService<S>
where
    Q: Send,
    S: Service<Q, Error: Into<BoxError> + Send, Future: Send, Response: Send> + Clone + Send,
{
    type Answer = S::Response;
    type Error = BoxError;

    async fn ready(&mut self) -> Result<(), BoxError> {
        if mem::take(&mut self.is_ready) {
            return Ok(());
        }
        let ready = future::poll_fn(|context| self.service.poll_ready(context));
        ready.await.map_err(Into::into)
    }

    fn give_up(&mut self) {
        let clone = self.service.clone();
        self.service = clone;
    }

    async fn send(&mut self, request: Q) -> Result<S::Response, BoxError> {
        self.service.call(request).await.map_err(Into::into)
    }

    fn rejected(rejected: Rejected) -> BoxError {
        rejected.into()
    }

    fn timed_out(timed_out: TimedOut) -> BoxError {
        timed_out.into()
    }

    fn as_error(error: &BoxError) -> &(dyn Error + 'static) {
        &**error
    }
}
