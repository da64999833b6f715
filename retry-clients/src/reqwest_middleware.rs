//! A middleware of [`reqwest-middleware`](https://docs.rs/reqwest-middleware/0.5) 0.5, for reqwest 0.13.

use std::error::Error as StdError;

use async_trait::async_trait;
use http::Extensions;
use reqwest::{Request, Response};
use reqwest_middleware::{Error, Middleware, Next, Result};
use retry_runtime::{Rejected, TimedOut, Verdict};

use crate::ClientRetries;
use crate::client_retries::hooks::Hooks;
use crate::client_retries::run::{Keys, Sender, Shown, run};

/// Retries every request of a client, in place of `reqwest_retry`'s `RetryTransientMiddleware`.
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
/// rejected or timed out ends with [`Error::Middleware`], which holds a [`Rejected`] or a [`TimedOut`].
///
/// [`ClientRetries::record_bodies`]: crate::ClientRetries::record_bodies
#[derive(Clone, Debug)]
pub struct RetryMiddleware(ClientRetries);

impl RetryMiddleware {
    /// Retries by that policy, or by what [`ClientRetries`] names beside one.
    pub fn new(retries: impl Into<ClientRetries>) -> Self {
        Self(retries.into())
    }
}

#[async_trait]
impl Middleware for RetryMiddleware {
    async fn handle(
        &self,
        request: Request,
        extensions: &mut Extensions,
        next: Next<'_>,
    ) -> Result<Response> {
        run(self, OfNext { next, extensions }, request).await
    }
}

struct OfNext<'a> {
    next: Next<'a>,
    extensions: &'a mut Extensions,
}

impl Sender<Request> for OfNext<'_> {
    type Answer = Response;
    type Error = Error;

    async fn ready(&mut self) -> Result<()> {
        Ok(())
    }

    fn give_up(&mut self) {}

    async fn send(&mut self, request: Request) -> Result<Response> {
        self.next.clone().run(request, self.extensions).await
    }
}

impl Keys<Request, Response, Error> for RetryMiddleware {
    type Request = Request;
    type Answer = Response;
    type Error = Error;
    const IS_HOOKED: bool = false;

    fn retries(&self) -> &ClientRetries {
        &self.0
    }

    fn hooks(&self) -> Option<&Hooks<Request, Response, Error>> {
        None
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

    fn rejected(rejected: Rejected) -> Error {
        Error::middleware(rejected)
    }

    fn timed_out(timed_out: TimedOut) -> Error {
        Error::middleware(timed_out)
    }

    fn verdict(&self, error: &Error) -> Option<Verdict> {
        self.0.judge(Err(as_error(error)))
    }

    fn shown(error: &Error) -> String {
        Shown(as_error(error)).to_string()
    }
}

fn as_error(error: &Error) -> &(dyn StdError + 'static) {
    match error {
        Error::Reqwest(error) => error,
        Error::Middleware(error) => error.as_ref(),
    }
}
