use std::error::Error;
use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll};

use ::async_openai::error::{ApiError, ApiErrorResponse, OpenAIError, WrappedError};
use ::async_openai::middleware::HttpRequestFactory;
use retry_runtime::{Classify, ResponseError, Verdict};
use tower_service::Service;

use super::by_status;

/// Sends one request per call and keeps what headers say of retries: for
/// `client.with_http_service(OneRequest::new(http))`.
///
/// `with_http_client`, called after it, brings the client's own retries back.
#[derive(Clone, Debug)]
pub struct OneRequest {
    http: reqwest::Client,
}

impl OneRequest {
    /// Sends by this client. Its `retry(reqwest::retry::never())` turns off what `reqwest` itself repeats: requests
    /// that a server turned away unread.
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
    let status_code = answer.status();
    let headers = answer.headers().clone();
    let body = match answer.text().await {
        Ok(body) => body,
        Err(error) => return error.into(),
    };
    let api_error = match serde_json::from_str::<WrappedError>(&body) {
        Ok(wrapped) => wrapped.error,
        Err(_) => ApiError {
            message: body.clone(),
            ..ApiError::default()
        },
    };
    let answer = ApiErrorResponse {
        status_code,
        api_error,
    };
    let verdict = ResponseError::new(status_code, headers, body).classify();
    if verdict == by_status(&answer) {
        return OpenAIError::ApiError(answer);
    }
    OpenAIError::Boxed(Box::new(Refused { answer, verdict }))
}

/// An answer that asks for more than its status says.
#[derive(Debug)]
pub(super) struct Refused {
    pub(super) answer: ApiErrorResponse,
    pub(super) verdict: Verdict,
}

impl fmt::Display for Refused {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.answer.fmt(f)
    }
}

impl Error for Refused {}
