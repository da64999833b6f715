//! What answers by HTTP mean.

use std::error::Error;
use std::fmt;

#[cfg(feature = "async_openai")]
use async_openai::error::OpenAIError;
use http::{HeaderMap, Method, StatusCode};
use retry_runtime::{Classify, ResponseError, Verdict};

#[cfg(feature = "tonic")]
mod grpc;
mod looked_at;

pub use looked_at::LookedAt;
pub(crate) use looked_at::{Look, longer};

/// How many retries a call took: in the extensions of an answer that was not the first. Attempts count, too, that
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

/// What a request came to: an answer, or the error of the service below.
///
/// A closure for [`ClientRetries::on`](crate::ClientRetries::on) that is bound to a variable first needs this type at
/// its parameter:
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

/// What an answer is judged by besides itself.
#[derive(Clone, Copy)]
pub(crate) struct Sent<'a> {
    pub(crate) method: &'a Method,
    /// Whether all of the request was sent.
    pub(crate) is_read: bool,
    /// Whether the request has an idempotency key, and an attempt failed ambiguously.
    pub(crate) is_in_doubt: bool,
}

/// An answer, as far as it was looked at.
///
/// For [`ClientRetries::on`](crate::ClientRetries::on).
#[derive(Clone, Copy)]
pub struct Answer<'a> {
    pub(crate) sent: Sent<'a>,
    pub(crate) status: StatusCode,
    pub(crate) headers: &'a HeaderMap,
    pub(crate) trailers: Option<&'a HeaderMap>,
    pub(crate) body: Option<&'a [u8]>,
    /// Whether the body was read to its end.
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

    /// The trailers, if they came first: that is how gRPC says that a call failed before its first message.
    pub fn trailers(&self) -> Option<&'a HeaderMap> {
        self.trailers
    }

    /// The body, or its beginning if it is longer than
    /// [`ClientRetries::read_bodies`](crate::ClientRetries::read_bodies) says. `None` if it was not read.
    pub fn body(&self) -> Option<&'a [u8]> {
        self.body
    }

    /// Whether the body was read, is whole, and has nothing but white space in it, though the answer is a success that
    /// should have one: not to `HEAD`, and not 204, 205 or a redirection.
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

    /// Whether the server may still be at work on an attempt before this one: it answers 409 to an `Idempotency-Key`, and
    /// that attempt failed ambiguously.
    pub fn is_key_in_use(&self) -> bool {
        self.status == StatusCode::CONFLICT && self.sent.is_in_doubt
    }

    /// How the log shows it as a failure.
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

/// What the outcome of a request means, if nothing else is said: `None` is a success.
///
/// | outcome | verdict |
/// |---|---|
/// | a status below 400 | success |
/// | 409 to a request with an `Idempotency-Key`, after an ambiguous failure | transient: the server may still be at work on that attempt |
/// | any other status | [`Verdict::from_http`], by status and headers |
/// | with the feature `tonic`: a status of gRPC in headers or trailers | that of `tonic::Status`, with pushback |
/// | with the feature `llm`, if the body was read: an error of a model API, whatever the status | by its `type`, `code` and text |
/// | an error | by its causes, as for a `Box<dyn Error>`; with its feature, an async-openai error by that module |
pub fn classify(outcome: Outcome<'_>) -> Option<Verdict> {
    match outcome {
        Ok(answer) => of_answer(answer),
        Err(error) => Some(of_error(error)),
    }
}

fn of_answer(answer: &Answer<'_>) -> Option<Verdict> {
    #[cfg(feature = "tonic")]
    if let Some(status) = grpc::status(answer) {
        return grpc::verdict(&status);
    }
    if answer.is_key_in_use() {
        // It asks to come again later, as 425 does, and has done nothing for this request.
        return Some(Verdict::from_http(StatusCode::TOO_EARLY, answer.headers));
    }
    #[cfg(feature = "llm")]
    if let Some(verdict) = of_model(answer) {
        return Some(verdict);
    }
    let is_failure = answer.status.is_client_error() || answer.status.is_server_error();
    is_failure.then(|| Verdict::from_http(answer.status, answer.headers))
}

/// `None` if the body was not read, or if the answer is no failure. That of a success is one only in the form of a model API.
#[cfg(feature = "llm")]
fn of_model(answer: &Answer<'_>) -> Option<Verdict> {
    use retry_runtime::llm::ProviderError;

    let body = answer.body?;
    if answer.status.is_client_error() || answer.status.is_server_error() {
        let refusal = ResponseError::new(answer.status, answer.headers.clone(), body);
        return Some(refusal.classify());
    }
    ProviderError::parse(body).map(|error| error.classify())
}

fn of_error(error: &(dyn Error + 'static)) -> Verdict {
    #[cfg(feature = "async_openai")]
    if let Some(error) = error.downcast_ref::<OpenAIError>() {
        return crate::async_openai::classify(error);
    }
    error.classify()
}
