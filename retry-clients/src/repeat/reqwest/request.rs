use std::borrow::Cow;

use reqwest::{Body, Request, Response};

use super::{drain_response, judge_response};
use crate::ClientRetries;
use crate::http::{RetryCount, Sent};
use crate::repeat::http::{has_key, is_idempotent};
use crate::repeat::{Judged, Repeat, RepeatBody, Unrepeatable};

/// Like the impl for `http::Request`. Bodies in memory are neither recorded nor limited.
impl Repeat<Response> for Request {
    type Kept = KeptRequest;
    type Answer = Response;
    const DRAINS: bool = true;

    fn keep(mut self, most: usize) -> (Self, KeptRequest) {
        if let Some(head) = self.try_clone() {
            return (self, KeptRequest::new(head, None));
        }
        let recorded = self.body_mut().take().map(|body| body.keep(most));
        let (first, body) = recorded.unzip();
        let head = copy(&self);
        *self.body_mut() = first;
        (self, KeptRequest::new(head, body))
    }

    fn keep_again(self, kept: &mut KeptRequest, most: usize) -> Self {
        // A body in memory is not recorded. A hook may have replaced a recorded body with such a body.
        if kept.body.is_none() || self.try_clone().is_some() {
            let (request, again) = self.keep(most);
            *kept = KeptRequest {
                is_in_doubt: kept.is_in_doubt,
                ..again
            };
            return request;
        }
        kept.head = copy(&self);
        self
    }

    fn repeatable(kept: &KeptRequest) -> Result<(), Unrepeatable> {
        kept.body.as_ref().map_or(Ok(()), Body::repeatable)
    }

    fn again(kept: &KeptRequest, _: u32) -> Result<Self, Unrepeatable> {
        let Some(body) = &kept.body else {
            return kept.head.try_clone().ok_or(Unrepeatable::Consumed);
        };
        let mut request = copy(&kept.head);
        *request.body_mut() = Some(Body::again(body)?);
        Ok(request)
    }

    async fn judge(
        kept: &KeptRequest,
        answer: Response,
        retries: &ClientRetries,
    ) -> Judged<Response> {
        let sent = Sent {
            method: kept.head.method(),
            is_read: kept.body.as_ref().is_none_or(Body::is_read),
            is_in_doubt: kept.is_in_doubt,
        };
        judge_response(sent, answer, retries).await
    }

    async fn drain(
        answer: &mut Response,
        pause: impl Future<Output = Option<()>> + Send,
    ) -> Option<()> {
        drain_response(answer, pause).await
    }

    fn retried(answer: &mut Response, retries: u32) {
        answer.extensions_mut().insert(RetryCount(retries));
    }

    fn name(kept: &KeptRequest) -> Cow<'_, str> {
        let method = kept.head.method();
        match kept.head.url().host_str() {
            Some(host) => Cow::Owned(format!("{method} {host}")),
            None => Cow::Borrowed(method.as_str()),
        }
    }

    fn failed_ambiguously(kept: &mut KeptRequest) {
        kept.is_in_doubt = has_key(kept.head.headers());
    }

    fn is_idempotent(kept: &KeptRequest) -> bool {
        is_idempotent(kept.head.method(), kept.head.headers())
    }
}

/// The data that is kept while a reqwest request is sent.
#[derive(Debug)]
pub struct KeptRequest {
    /// The whole request, or the request without its body if the body is recorded.
    head: Request,
    body: Option<<Body as RepeatBody>::Kept>,
    /// True if the request has an idempotency key, and an attempt failed ambiguously.
    is_in_doubt: bool,
}

impl KeptRequest {
    fn new(head: Request, body: Option<<Body as RepeatBody>::Kept>) -> Self {
        Self {
            head,
            body,
            is_in_doubt: false,
        }
    }
}

/// Copies a request without its body.
fn copy(request: &Request) -> Request {
    let mut copy = Request::new(request.method().clone(), request.url().clone());
    copy.headers_mut().clone_from(request.headers());
    *copy.timeout_mut() = request.timeout().copied();
    *copy.version_mut() = request.version();
    copy
}
