use std::error::Error;
use std::fmt;
use std::pin::Pin;
use std::task::{Context, Poll};

use ::async_openai::error::{ApiError, ApiErrorResponse, OpenAIError, WrappedError};
use ::async_openai::middleware::HttpRequestFactory;
use retry_runtime::{Classify, ErrorForRetry, ResponseError, Verdict};
use tower_service::Service;

use super::status_verdict;

/// An HTTP service that sends one request per call and keeps retry-related headers, for
/// `client.with_http_service(OneRequest::new(http))`.
///
/// A later call of `with_http_client` turns the client's own retries on again.
#[derive(Clone, Debug)]
pub struct OneRequest {
    http: reqwest::Client,
}

impl OneRequest {
    /// Creates the service with this client. `reqwest` itself resends requests that a server refused to process. To
    /// disable these retries, build the client with `retry(reqwest::retry::never())`.
    pub fn new(http: reqwest::Client) -> Self {
        Self { http }
    }
}

impl Service<HttpRequestFactory> for OneRequest {
    type Response = reqwest::Response;
    type Error = OpenAIError;
    type Future = Pin<Box<dyn Future<Output = Result<Self::Response, OpenAIError>> + Send>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), OpenAIError>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: HttpRequestFactory) -> Self::Future {
        let http = self.http.clone();
        Box::pin(async move {
            let answer = http.execute(request.build().await?).await?;
            if answer.status().is_success() {
                return Ok(answer);
            }
            Err(refusal(answer).await)
        })
    }
}

async fn refusal(answer: reqwest::Response) -> OpenAIError {
    let refused = match answer.error_for_retry().await {
        Err(refused) => refused,
        // A redirection that the client did not follow.
        Ok(other) => ResponseError::new(other.status(), other.headers().clone(), ""),
    };
    let api_error = match serde_json::from_slice::<WrappedError>(refused.body()) {
        Ok(wrapped) => wrapped.error,
        Err(_) => ApiError {
            message: String::from_utf8_lossy(refused.body()).into_owned(),
            ..ApiError::default()
        },
    };
    let answer = ApiErrorResponse {
        status_code: refused.status(),
        api_error,
    };
    let verdict = refused.classify();
    if verdict == status_verdict(&answer) {
        return OpenAIError::ApiError(answer);
    }
    OpenAIError::Boxed(Box::new(RefusedResponse { answer, verdict }))
}

/// A response with retry-related headers.
#[derive(Debug)]
pub(super) struct RefusedResponse {
    pub(super) answer: ApiErrorResponse,
    pub(super) verdict: Verdict,
}

impl fmt::Display for RefusedResponse {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.answer.fmt(f)
    }
}

impl Error for RefusedResponse {}
