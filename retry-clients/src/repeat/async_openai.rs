use std::borrow::Cow;

use async_openai::middleware::HttpRequestFactory;
use http::Method;
use reqwest::Response;

use super::reqwest::judge_response;
use super::{Judged, Repeat, Unrepeatable};
use crate::ClientRetries;
use crate::http::RetryCount;

/// Each attempt builds its request anew, so no body is recorded. What it builds is not known before: calls are named
/// `async-openai` unless they have a name, and count as idempotent.
impl Repeat<Response> for HttpRequestFactory {
    type Kept = Self;
    type Answer = Response;

    fn keep(self, _: usize) -> (Self, Self) {
        (self.clone(), self)
    }

    fn again(kept: &Self, _: u32) -> Result<Self, Unrepeatable> {
        Ok(kept.clone())
    }

    async fn judge(_: &Self, answer: Response, retries: &ClientRetries) -> Judged<Response> {
        judge_response(&Method::POST, true, answer, retries).await
    }

    fn retried(answer: &mut Response, retries: u32) {
        answer.extensions_mut().insert(RetryCount(retries));
    }

    fn name(_: &Self) -> Cow<'_, str> {
        Cow::Borrowed("async-openai")
    }
}
