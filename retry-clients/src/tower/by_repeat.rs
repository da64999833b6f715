use std::task::{Context, Poll};

use retry_runtime::{Rejected, TimedOut, Verdict};
use tower_service::Service;

use super::{Called, Hooked, Hooks, Retry, RetryLayer};
use crate::client_retries::failed::WithCauses;
use crate::client_retries::run::Keys;
use crate::repeat::Repeat;
use crate::{BoxError, ClientRetries};

/// Retries requests that are [`Repeat`].
#[derive(Clone, Copy, Debug, Default)]
pub struct ByRepeat;

impl<S, Q, H> Service<Q> for Retry<S, ByRepeat, H>
where
    Q: Repeat<S::Response> + 'static,
    S: Service<Q, Error: Into<BoxError> + Send, Future: Send, Response: Send>
        + Clone
        + Send
        + 'static,
    H: Hooked<Q, Q::Answer, BoxError> + 'static,
{
    type Response = Q::Answer;
    type Error = BoxError;
    type Future = Called<Q::Answer, BoxError>;

    fn poll_ready(&mut self, context: &mut Context<'_>) -> Poll<Result<(), BoxError>> {
        self.poll_service(context).map_err(Into::into)
    }

    fn call(&mut self, request: Q) -> Self::Future {
        self.send(request)
    }
}

impl<Q, A, E, H> Keys<Q, A, E> for RetryLayer<ByRepeat, H>
where
    Q: Repeat<A>,
    E: Into<BoxError>,
    H: Hooked<Q, Q::Answer, BoxError>,
{
    type Request = Q;
    type Answer = Q::Answer;
    type Error = BoxError;

    fn retries(&self) -> &ClientRetries {
        &self.retries
    }

    fn hooks(&self) -> Option<&Hooks<Q, Q::Answer, BoxError>> {
        self.hooks.hooks()
    }

    fn wrap(&self, request: Q) -> Q {
        request
    }

    fn unwrap(request: Q) -> Q {
        request
    }

    fn request(request: &mut Q) -> &mut Q {
        request
    }

    fn error(error: E) -> BoxError {
        error.into()
    }

    fn rejected(&self, rejected: Rejected) -> BoxError {
        rejected.into()
    }

    fn timed_out(&self, timed_out: TimedOut) -> BoxError {
        timed_out.into()
    }

    fn verdict(&self, error: &BoxError) -> Option<Verdict> {
        self.retries.judge(Err(&**error))
    }

    fn describe(error: &BoxError) -> String {
        WithCauses(&**error).to_string()
    }
}
