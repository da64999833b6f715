use std::borrow::Cow;

use reqwest::{Body, Request, Response};

use super::judge_response;
use crate::ClientRetries;
use crate::http::RetryCount;
use crate::repeat::http::is_idempotent;
use crate::repeat::{Judged, Repeat, RepeatBody, Unrepeatable};

/// Like `http::Request`. Bodies in memory are neither recorded nor limited.
impl Repeat<Response> for Request {
    type Kept = KeptRequest;
    type Answer = Response;

    fn keep(mut self, most: usize) -> (Self, KeptRequest) {
        if let Some(head) = self.try_clone() {
            return (self, KeptRequest { head, body: None });
        }
        let recorded = self.body_mut().take().map(|body| body.keep(most));
        let (first, body) = recorded.unzip();
        let head = copy(&self);
        *self.body_mut() = first;
        (self, KeptRequest { head, body })
    }

    fn keep_again(self, kept: &mut KeptRequest, most: usize) -> Self {
        // In memory: not recorded, or no longer.
        if kept.body.is_none() || self.try_clone().is_some() {
            let (request, again) = self.keep(most);
            *kept = again;
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
        let is_sent = kept.body.as_ref().is_none_or(Body::is_read);
        judge_response(kept.head.method(), is_sent, answer, retries).await
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

    fn is_idempotent(kept: &KeptRequest) -> bool {
        is_idempotent(kept.head.method(), kept.head.headers())
    }
}

/// What is kept of a request of reqwest while it is sent.
#[derive(Debug)]
pub struct KeptRequest {
    /// The whole request, or all but its body if that is recorded.
    head: Request,
    body: Option<<Body as RepeatBody>::Kept>,
}

/// A copy without the body.
fn copy(request: &Request) -> Request {
    let mut copy = Request::new(request.method().clone(), request.url().clone());
    copy.headers_mut().clone_from(request.headers());
    *copy.timeout_mut() = request.timeout().copied();
    *copy.version_mut() = request.version();
    copy
}
