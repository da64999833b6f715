//! Services that fail on purpose, for tests.

use std::future::ready;
use std::sync::Arc;
use std::task::{Context, Poll};

use retry_runtime::testing::Script;
use tower_layer::Layer;
use tower_service::Service;

use super::Called;

/// A layer that puts a script in front of a service: a request fails if the script's next outcome is an error, and
/// otherwise reaches the service.
///
/// ```
/// use std::io::{Error, ErrorKind};
/// use http::{Request, Response};
/// use http_body_util::Full;
/// use retry_clients::tower::RetryLayer;
/// use retry_clients::tower::testing::FlakyLayer;
/// use retry_runtime::Policy;
/// use retry_runtime::testing::{Scope, sequence};
/// use tower::{ServiceBuilder, ServiceExt, service_fn};
///
/// # type Body = Full<bytes::Bytes>;
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error + Send + Sync>> {
/// let busy = Response::builder().status(503).body(Body::default())?;
/// let flaky = FlakyLayer::new(sequence([
///     Err(Error::from(ErrorKind::ConnectionRefused)), // The service's error.
///     Ok(Some(busy)),                                 // A response instead.
///     Ok(None),                                       // The service responds.
/// ]));
/// let client = ServiceBuilder::new()
///     .layer(RetryLayer::new(Policy::new()))
///     .layer(flaky.clone())
///     .service(service_fn(|_: Request<Body>| async {
///         Ok::<_, Error>(Response::new(Body::from("hello")))
///     }));
///
/// let scope = Scope::new().skip_sleeps();
/// let request = Request::get("http://host/").body(Body::default())?;
/// let response = scope.run(client.oneshot(request)).await?;
/// assert_eq!(response.status(), 200);
/// assert_eq!(flaky.requests(), 3);
/// # Ok(())
/// # }
/// ```
///
/// A script of [`fail_times`](retry_runtime::testing::fail_times) works, too: each success lets a request through. The
/// service's error type must implement `From` for the script's error. If the service's error is boxed, the script's
/// error may be a `&'static str`.
///
/// All services created by a layer and its clones share one script.
#[derive(Debug)]
pub struct FlakyLayer<S>(Arc<S>);

impl<T, E> FlakyLayer<Script<T, E>> {
    /// Creates a layer with this script.
    pub fn new(script: Script<T, E>) -> Self {
        Self(Arc::new(script))
    }

    /// The number of requests so far, including those that did not reach the service.
    pub fn requests(&self) -> u32 {
        self.0.attempts()
    }
}

impl<S> Clone for FlakyLayer<S> {
    fn clone(&self) -> Self {
        Self(Arc::clone(&self.0))
    }
}

impl<S, V> Layer<V> for FlakyLayer<S> {
    type Service = Flaky<S, V>;

    fn layer(&self, service: V) -> Flaky<S, V> {
        Flaky {
            script: Arc::clone(&self.0),
            service,
        }
    }
}

/// A service that fails according to a script. Created by [`FlakyLayer`].
#[derive(Debug)]
pub struct Flaky<S, V> {
    script: Arc<S>,
    service: V,
}

impl<S, V: Clone> Clone for Flaky<S, V> {
    fn clone(&self) -> Self {
        Self {
            script: Arc::clone(&self.script),
            service: self.service.clone(),
        }
    }
}

impl<S, V, Q> Service<Q> for Flaky<S, V>
where
    S: Faults<V::Response, V::Error>,
    V: Service<Q, Response: Send + 'static, Error: Send + 'static, Future: Send + 'static>,
{
    type Response = V::Response;
    type Error = V::Error;
    type Future = Called<V::Response, V::Error>;

    fn poll_ready(&mut self, context: &mut Context<'_>) -> Poll<Result<(), V::Error>> {
        self.service.poll_ready(context)
    }

    fn call(&mut self, request: Q) -> Self::Future {
        match self.script.fault() {
            Some(outcome) => Box::pin(ready(outcome)),
            None => Box::pin(self.service.call(request)),
        }
    }
}

/// A [`Script`] for services with this response and error.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a script for this service",
    label = "not a script of `()` or `Option<{R}>`, with errors that convert into `{E}`"
)]
pub trait Faults<R, E> {
    /// The outcome of the next request. `None` if the request reaches the service.
    #[doc(hidden)]
    fn fault(&self) -> Option<Result<R, E>>;
}

impl<R, E, F: Into<E>> Faults<R, E> for Script<(), F> {
    fn fault(&self) -> Option<Result<R, E>> {
        self.next().err().map(|error| Err(error.into()))
    }
}

impl<R, E, F: Into<E>> Faults<R, E> for Script<Option<R>, F> {
    fn fault(&self) -> Option<Result<R, E>> {
        self.next().map_err(Into::into).transpose()
    }
}
