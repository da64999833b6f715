//! Classification of HTTP responses.

use std::error::Error;
use std::fmt;

#[cfg(feature = "async_openai")]
use async_openai::error::OpenAIError;
use http::{HeaderMap, Method, StatusCode};
use retry_runtime::{Classify, ResponseError, Verdict};

#[cfg(feature = "tonic")]
mod grpc;
mod peeked_body;

pub use peeked_body::PeekedBody;
pub(crate) use peeked_body::{Peek, extend_hint};

/// The number of retries of a call, stored in the response's extensions if the call was retried. Includes attempts that
/// were never sent because the service failed to become ready.
///
/// ```
/// use retry_clients::http::RetryCount;
///
/// fn retries<B>(answer: &http::Response<B>) -> u32 {
///     answer.extensions().get::<RetryCount>().map_or(0, |count| count.0)
/// }
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct RetryCount(pub u32);

/// The outcome of a request: a response, or an error of the inner service.
///
/// If you bind a closure for [`ClientRetries::on`](crate::ClientRetries::on) to a variable first, its parameter needs
/// this type:
///
/// ```
/// use retry_clients::ClientRetries;
/// use retry_clients::http::{Outcome, classify};
/// use retry_runtime::{Policy, Verdict};
///
/// let on = |outcome: Outcome<'_>| match outcome {
///     Ok(answer) if answer.is_empty() => Some(Verdict::TRANSIENT),
///     outcome => classify(outcome),
/// };
/// let retries = ClientRetries::new(Policy::new()).on(on);
/// # let _ = retries;
/// ```
pub type Outcome<'a> = Result<&'a Answer<'a>, &'a (dyn Error + 'static)>;

/// Facts about the request that are needed to classify its response.
#[derive(Clone, Copy)]
pub(crate) struct Sent<'a> {
    pub(crate) method: &'a Method,
    /// True if the whole request was sent.
    pub(crate) is_read: bool,
    /// True if the request has an idempotency key, and an attempt failed ambiguously.
    pub(crate) is_in_doubt: bool,
}

/// A response, with the part of its body that was read for classification.
///
/// Passed to the function of [`ClientRetries::on`](crate::ClientRetries::on).
#[derive(Clone, Copy)]
pub struct Answer<'a> {
    pub(crate) sent: Sent<'a>,
    pub(crate) status: StatusCode,
    pub(crate) headers: &'a HeaderMap,
    pub(crate) trailers: Option<&'a HeaderMap>,
    pub(crate) body: Option<&'a [u8]>,
    /// True if the body was read to its end.
    pub(crate) is_whole: bool,
}

impl<'a> Answer<'a> {
    /// The method of the request.
    pub fn method(&self) -> &'a Method {
        self.sent.method
    }

    /// The status.
    pub fn status(&self) -> StatusCode {
        self.status
    }

    /// The headers.
    pub fn headers(&self) -> &'a HeaderMap {
        self.headers
    }

    /// The trailers, if no data came before them. gRPC sends such trailers if a call failed before its first message.
    pub fn trailers(&self) -> Option<&'a HeaderMap> {
        self.trailers
    }

    /// The body, or its start if it exceeds the limit of
    /// [`ClientRetries::read_bodies`](crate::ClientRetries::read_bodies). `None` if it was not read.
    pub fn body(&self) -> Option<&'a [u8]> {
        self.body
    }

    /// Returns true if the body was read to its end and is empty or white space, although the response is a success
    /// that should have a body, unlike a response to `HEAD`, a 204, a 205 or a redirection.
    ///
    /// ```
    /// use retry_clients::{ClientRetries, http::classify};
    /// use retry_runtime::{Policy, Verdict};
    ///
    /// let retries = ClientRetries::new(Policy::new())
    ///     .read_bodies(64 * 1024)
    ///     .on(|outcome| match outcome {
    ///         Ok(answer) if answer.is_empty() => Some(Verdict::TRANSIENT),
    ///         outcome => classify(outcome),
    ///     });
    /// # let _ = retries;
    /// ```
    pub fn is_empty(&self) -> bool {
        let should_have_one = self.status.is_success()
            && self.status != StatusCode::NO_CONTENT
            && self.status != StatusCode::RESET_CONTENT
            && self.sent.method != Method::HEAD;
        let is_blank = |body: &[u8]| body.trim_ascii().is_empty();
        should_have_one && self.is_whole && self.body.is_some_and(is_blank)
    }

    /// Returns true if the server may still be processing an earlier attempt: that attempt failed ambiguously, and the
    /// server now returns 409 for its `Idempotency-Key`.
    pub fn is_key_in_use(&self) -> bool {
        self.status == StatusCode::CONFLICT && self.sent.is_in_doubt
    }

    /// Returns the text that the log shows for the response if it is a failure.
    pub(crate) fn shown(&self) -> String {
        #[cfg(feature = "tonic")]
        if let Some(status) = grpc::status(self) {
            return status.to_string();
        }
        let body = self.body.unwrap_or_default();
        ResponseError::new(self.status, HeaderMap::new(), body).to_string()
    }
}

impl fmt::Debug for Answer<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Answer")
            .field("status", &self.status)
            .finish_non_exhaustive()
    }
}

/// The default classification of a request's outcome. `None` is a success.
///
/// | outcome | verdict |
/// |---|---|
/// | a status below 400 | success |
/// | 409 to a request with an `Idempotency-Key`, after an ambiguous failure | transient: the server may still be processing that attempt |
/// | any other status | [`Verdict::from_http`] of the status and headers |
/// | with the feature `tonic`: a gRPC status in headers or trailers | that of `tonic::Status`, with pushback |
/// | with the feature `llm`, if the body was read: an error of a model API, with any status | by its `type`, `code` and text |
/// | an error | by its causes, as for a `Box<dyn Error>`; with the feature `async_openai`, an error of that client by that module |
pub fn classify(outcome: Outcome<'_>) -> Option<Verdict> {
    match outcome {
        Ok(answer) => verdict_of(answer),
        Err(error) => Some(error_verdict(error)),
    }
}

fn verdict_of(answer: &Answer<'_>) -> Option<Verdict> {
    #[cfg(feature = "tonic")]
    if let Some(status) = grpc::status(answer) {
        return grpc::verdict(&status);
    }
    if answer.is_key_in_use() {
        // Like a 425: the server did nothing for this request, which may be sent again later.
        return Some(Verdict::from_http(StatusCode::TOO_EARLY, answer.headers));
    }
    #[cfg(feature = "llm")]
    if let Some(verdict) = model_verdict(answer) {
        return Some(verdict);
    }
    let is_failure = answer.status.is_client_error() || answer.status.is_server_error();
    is_failure.then(|| Verdict::from_http(answer.status, answer.headers))
}

/// Returns `None` if the body was not read, or if the response is not a failure. A success status is a failure only if
/// its body is a model API's error object.
#[cfg(feature = "llm")]
fn model_verdict(answer: &Answer<'_>) -> Option<Verdict> {
    use retry_runtime::llm::ProviderError;

    let body = answer.body?;
    if answer.status.is_client_error() || answer.status.is_server_error() {
        let refusal = ResponseError::new(answer.status, answer.headers.clone(), body);
        return Some(refusal.classify());
    }
    ProviderError::parse(body).map(|error| error.classify())
}

fn error_verdict(error: &(dyn Error + 'static)) -> Verdict {
    #[cfg(feature = "async_openai")]
    if let Some(error) = error.downcast_ref::<OpenAIError>() {
        return crate::async_openai::classify(error);
    }
    error.classify()
}
