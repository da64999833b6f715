use std::borrow::Cow;

use async_openai::middleware::HttpRequestFactory;
use http::Method;
use reqwest::Response;

use super::reqwest::{drain_response, judge_response};
use super::{Judged, Repeat, Unrepeatable};
use crate::ClientRetries;
use crate::http::{RetryCount, Sent};

/// Each attempt builds a new request, so bodies aren't recorded. The request isn't known in advance, so calls are named
/// `async-openai` by default, and count as idempotent.
impl Repeat<Response> for HttpRequestFactory {
    type Kept = Self;
    type Answer = Response;
    const DRAINS: bool = true;

    fn keep(self, _: usize) -> (Self, Self) {
        (self.clone(), self)
    }

    fn again(kept: &Self, _: u32) -> Result<Self, Unrepeatable> {
        Ok(kept.clone())
    }

    async fn judge(_: &Self, answer: Response, retries: &ClientRetries) -> Judged<Response> {
        let sent = Sent {
            method: &Method::POST,
            is_read: true,
            is_in_doubt: false,
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

    fn name(_: &Self) -> Cow<'_, str> {
        Cow::Borrowed("async-openai")
    }
}
