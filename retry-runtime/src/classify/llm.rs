//! What model APIs say in the bodies of their errors.
//!
//! A status can't tell a rate limit from an unpaid bill (both are a 429), and an error in the middle of an event stream
//! has no status at all. The body can:
//!
//! ```
//! use std::time::Duration;
//! use retry_runtime::llm::{Fault, ProviderError};
//! use retry_runtime::{Classify, Verdict};
//!
//! let body = r#"{"error": {
//!     "message": "You exceeded your current quota",
//!     "type": "insufficient_quota"
//! }}"#;
//! let error = ProviderError::parse(body).unwrap();
//! assert_eq!(error.fault(), Fault::Billing);
//! assert_eq!(error.classify(), Verdict::STOP);
//!
//! // An event of a stream that began with a 200.
//! let data = r#"{
//!     "type": "error",
//!     "error": {"type": "overloaded_error", "message": "Overloaded"}
//! }"#;
//! let error = ProviderError::parse(data).unwrap();
//! assert_eq!(error.classify(), Verdict::TRANSIENT.ambiguous());
//! assert_eq!(error.to_string(), "overloaded_error: Overloaded");
//!
//! // An event that is none.
//! let data = r#"{"choices": [{"delta": {"content": "Hello"}}]}"#;
//! assert_eq!(ProviderError::parse(data), None);
//! ```
//!
//! With the feature `http`, [`ResponseError`](crate::ResponseError) does this by itself.
//!
//! Some failures need something other than a retry: a shorter prompt, or another model. A `fallback` can choose by the
//! fault:
//!
//! ```
//! use retry_runtime::llm::{Fault, ProviderError};
//! use retry_runtime::{GaveUp, retry};
//!
//! #[retry(fallback = |gave_up| another_way(prompt, gave_up))]
//! async fn complete(prompt: &str) -> Result<String, ProviderError> {
//!     let body = r#"{"error": {
//!         "code": "context_length_exceeded",
//!         "message": "too many tokens"
//!     }}"#;
//!     Err(ProviderError::parse(body).unwrap())
//! }
//!
//! async fn another_way(
//!     prompt: &str,
//!     gave_up: GaveUp<ProviderError>,
//! ) -> Result<String, ProviderError> {
//!     match gave_up.error().fault() {
//!         Fault::TooLong => Ok(format!("an answer to the end of {prompt}")),
//!         _ => Err(gave_up.into_error()),
//!     }
//! }
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() {
//! assert_eq!(complete("it all").await.unwrap(), "an answer to the end of it all");
//! # }
//! ```
//!
//! Sources: the error references of the OpenAI, Anthropic and Gemini APIs; google.rpc's `error_details.proto`.

use core::error::Error;
use core::fmt;
use core::time::Duration;

mod envelope;
mod truncated;

pub use crate::classify::fault::Fault;
pub use crate::classify::wait_in_text::wait_in;
use crate::classify::{Classify, Verdict};
use crate::error_text::shown::shown;

/// The error of a model API, read from a body or from one event of a stream, in the formats of OpenAI, Anthropic,
/// Google and the servers that copy them.
///
/// [`Classify`] is for errors without a status, such as those within a stream:
///
/// | [`Fault`] | verdict |
/// |---|---|
/// | `Throttled` | throttled, with the wait in Google's `RetryInfo` or in the message as the hint; ambiguous if only an error that it quotes says so, or if something was done beside it |
/// | `Overloaded`, `Internal` | transient, ambiguous: the request may have taken effect; `Overloaded` after the wait in `RetryInfo` |
/// | `Timeout` | [`Verdict::TIMEOUT`] |
/// | `Billing`, `TooLong`, `Filtered`, `Invalid`, `Unknown`; any with `"retryable": false` | stop |
///
/// If there is a status as well, [`ResponseError`](crate::ResponseError) weighs both: `Billing`, `TooLong` and
/// `Filtered` always stop; then `x-should-retry` decides if it is present; then `"retryable": false` stops; an error in a
/// 2xx is judged by the table; `Throttled` and `Overloaded` win over the status; in all other cases the status decides.
/// The status, with the wait in the headers or the body, also says whether the request may have taken effect, as in
/// [`Verdict::from_http`]. With a 5xx or a 408, a throttled request was refused only if the server's own `code` or `type`
/// says so: a number, a text or a quoted error may be of a server behind it, asked after the work was done.
#[derive(Clone, Debug, PartialEq)]
pub struct ProviderError {
    pub(crate) fault: Fault,
    pub(crate) error_type: Option<String>,
    pub(crate) code: Option<String>,
    pub(crate) message: String,
    pub(crate) retry_after: Option<Duration>,
    /// Whether a field of the error itself holds the wait, and not what it quotes.
    pub(crate) asks_itself: bool,
    /// Whether the error says itself that a retry is no use.
    pub(crate) is_final: bool,
    /// Whether its code has one of AWS's shapes.
    pub(crate) is_of_aws: bool,
    pub(crate) by: By,
}

/// How GitHub calls its secondary limits, today and before.
#[cfg(feature = "http")]
const SECONDARY: [&str; 2] = ["secondary rate limit", "abuse detection"];
/// The least that GitHub asks to wait for them.
#[cfg(feature = "http")]
const SECONDARY_WAIT: Duration = Duration::from_secs(60);

/// What tells the fault. A server that quotes another one's refusal may have done its own part before.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum By {
    /// A name among the server's own fields.
    Name,
    /// An error that it quotes or wraps.
    Quote,
    /// One error of an answer that also has results.
    Part,
    /// A number, a text or the status.
    Others,
}

impl ProviderError {
    /// Reads a JSON body, the `data` of one event of a stream, or the text of a whole event stream, where the first
    /// error counts. `None` if it holds no readable error.
    ///
    /// A body that was cut off is read up to its last complete field. If even the type and the code are lost, the fault
    /// is [`Fault::Unknown`], or there is none.
    pub fn parse(body: impl AsRef<[u8]>) -> Option<Self> {
        envelope::parse(&String::from_utf8_lossy(body.as_ref()), None, None)
    }

    /// The error in the body of an answer with that status.
    #[cfg(feature = "http")]
    pub(crate) fn of_answer(
        status: http::StatusCode,
        headers: &http::HeaderMap,
        body: &[u8],
    ) -> Option<Self> {
        let aws = headers.get("x-amzn-errortype");
        let aws = aws.and_then(|code| code.to_str().ok());
        envelope::parse(&String::from_utf8_lossy(body), Some(status.as_u16()), aws)
    }

    /// What is wrong.
    pub fn fault(&self) -> Fault {
        self.fault
    }

    /// `type` in OpenAI's and Anthropic's bodies, `status` in Google's.
    pub fn error_type(&self) -> Option<&str> {
        self.error_type.as_deref()
    }

    /// `code` in OpenAI's and Google's bodies, `details.error_code` in Anthropic's.
    pub fn code(&self) -> Option<&str> {
        self.code.as_deref()
    }

    /// The message for people. May be empty.
    pub fn message(&self) -> &str {
        &self.message
    }

    /// The wait in Google's `RetryInfo`, or in a field such as `retry_after` or `estimated_time`, at any depth.
    /// Without one, if the error throttles, the wait in the message ([`wait_in`]): "Please try again in 1.2s". From zero to
    /// 365 days; other values are ignored.
    pub fn retry_after(&self) -> Option<Duration> {
        self.retry_after
    }

    /// The verdict on an answer, from what its status, headers and body say.
    #[cfg(feature = "http")]
    pub(crate) fn refine(&self, status: http::StatusCode, headers: &http::HeaderMap) -> Verdict {
        use crate::classify::http::{InBody, by_status_and_headers, is_throttled, should_retry};
        use crate::classify::retry_after::{asks_to_wait, server_time};
        use crate::classify::status::stopped;
        use crate::classify::verdict::LONGEST_HINT;
        use crate::classify::wait_in_text::time_in;

        let by_headers = by_status_and_headers(status, headers);
        let verdict = match self.fault {
            Fault::Billing | Fault::TooLong | Fault::Filtered => stopped(status.as_u16()),
            _ if should_retry(headers).is_some() => by_headers,
            _ if self.is_final => stopped(status.as_u16()),
            // As an event of a stream that began so.
            fault if status.is_success() => fault.classify(),
            // AWS's codes say more than its statuses, and these leave open what was done.
            Fault::Internal | Fault::Timeout if self.is_of_aws => Verdict::TRANSIENT.ambiguous(),
            Fault::Throttled => Verdict::THROTTLED,
            Fault::Overloaded => Verdict::TRANSIENT,
            Fault::Internal | Fault::Timeout | Fault::Invalid | Fault::Unknown => by_headers,
        };
        let until = || {
            time_in(&self.message)?
                .duration_since(server_time(headers))
                .ok()
        };
        let in_message = || {
            let wait = wait_in(&self.message).or_else(until);
            wait.filter(|wait| is_throttled(status, verdict) && *wait <= LONGEST_HINT)
        };
        let leaves_open = status.is_server_error() || status == http::StatusCode::REQUEST_TIMEOUT;
        let body = InBody {
            wait: self.retry_after.or_else(in_message),
            asks: self.asks_itself,
            refuses: match self.by {
                By::Name => true,
                By::Quote | By::Part => false,
                By::Others => !leaves_open,
            },
        };
        let verdict = Verdict::of_answer(status, headers, verdict, body);
        if self.is_secondary() && verdict.is_retryable() && asks_to_wait(headers).is_none() {
            // What is reset before is another limit.
            return verdict.after(verdict.hint().unwrap_or_default().max(SECONDARY_WAIT));
        }
        verdict
    }

    /// Whether the limit is one of those of which GitHub doesn't tell when they are lifted.
    #[cfg(feature = "http")]
    fn is_secondary(&self) -> bool {
        SECONDARY.iter().any(|limit| self.message.contains(limit))
    }
}

#[diagnostic::do_not_recommend]
impl Classify for ProviderError {
    fn classify(&self) -> Verdict {
        let verdict = match (self.fault, self.by) {
            _ if self.is_final => Verdict::STOP,
            (Fault::Throttled, By::Quote | By::Part) => Verdict::THROTTLED.ambiguous(),
            (fault, _) => fault.classify(),
        };
        verdict.hinted(self.retry_after.filter(|_| verdict.is_retryable()))
    }

    describe_with_causes!();
}

impl fmt::Display for ProviderError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = self.error_type().or(self.code()).unwrap_or("error");
        write!(f, "{}", shown(name))?;
        if let Some(code) = self.code().filter(|code| *code != name) {
            write!(f, " ({})", shown(code))?;
        }
        if !self.message.is_empty() {
            write!(f, ": {}", shown(&self.message))?;
        }
        Ok(())
    }
}

impl Error for ProviderError {}
