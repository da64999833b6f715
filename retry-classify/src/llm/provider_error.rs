use core::error::Error;
use core::fmt;
use core::time::Duration;

use crate::error_text::shown::shown;
use crate::text::fault::Fault;
use crate::{Classify, Verdict};

/// A model API's error, parsed from a body or from one event of a stream, in the formats of OpenAI, Anthropic, Google
/// and servers with compatible APIs.
///
/// The [`Classify`] impl is for errors without a status, such as those within a stream:
///
/// | [`Fault`] | verdict |
/// |---|---|
/// | `Throttled` | throttled, with the wait in Google's `RetryInfo` or `quotaResetDelay`, or in the message, as the hint; ambiguous if only a quoted error reports it, or if part of the request took effect |
/// | `Overloaded`, `Internal` | transient, ambiguous: the request may have taken effect; `Overloaded` after the wait in `RetryInfo` |
/// | `Timeout` | [`Verdict::TIMEOUT`] |
/// | `Billing`, `TooLong`, `Filtered`, `Invalid`, `Unknown`; any with `"retryable": false` | stop |
///
/// If there is a status as well, [`ResponseError`](crate::ResponseError) combines both. The first rule that applies
/// decides:
///
/// 1. `Billing`, `TooLong` and `Filtered` stop.
/// 2. The header `x-should-retry` decides if it is present.
/// 3. `"retryable": false` stops.
/// 4. An error in a 2xx is classified by the table.
/// 5. In a 5xx, an `Invalid` from a quoted error stops.
/// 6. `Throttled` and `Overloaded` win over the status.
/// 7. In all other cases the status decides.
///
/// The status, together with a wait in the headers or the body, also decides whether the request may have taken effect,
/// as in [`Verdict::from_http`]. With a 5xx or a 408, a throttled request counts as refused only if the server's own
/// `code` or `type` names the fault: a number, a text or a quoted error may come from a second server, called after
/// part of the work was done.
#[derive(Clone, Debug, PartialEq)]
pub struct ProviderError {
    pub(crate) fault: Fault,
    pub(crate) error_type: Option<String>,
    pub(crate) code: Option<String>,
    pub(crate) message: String,
    pub(crate) retry_after: Option<Duration>,
    /// True if the wait is in a field of the error itself, not in a quoted error.
    pub(crate) asks_for_wait: bool,
    /// True if the error explicitly rules out a retry.
    pub(crate) is_final: bool,
    /// True if the error's code has one of AWS's formats.
    pub(crate) is_of_aws: bool,
    pub(crate) source: Source,
}

/// The source of the fault. A server that quotes another server's refusal may already have done its own part of the
/// work.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Source {
    /// A name in the server's own fields.
    Name,
    /// An error that the server quotes or wraps.
    Quote,
    /// One error in a response that also contains results.
    Part,
    /// A text that reports a server failure, in an error whose names have no known meaning.
    Text,
    /// A number, another text or the status.
    Others,
}

impl ProviderError {
    /// The fault, in terms common to all providers.
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

    /// The human-readable message. May be empty.
    pub fn message(&self) -> &str {
        &self.message
    }

    /// The wait in Google's `RetryInfo`, or in a field such as `retry_after` or `estimated_time`, at any depth. If
    /// there is none and the request was throttled, the wait in the message ([`wait_in`](crate::llm::wait_in)): "Please
    /// try again in 1.2s". From zero to 365 days; other values are ignored.
    pub fn retry_after(&self) -> Option<Duration> {
        self.retry_after
    }
}

#[diagnostic::do_not_recommend]
impl Classify for ProviderError {
    fn classify(&self) -> Verdict {
        let verdict = match (self.fault, self.source) {
            _ if self.is_final => Verdict::STOP,
            (Fault::Throttled, Source::Quote | Source::Part) => Verdict::THROTTLED.ambiguous(),
            (fault, _) => fault.classify(),
        };
        verdict.with_hint(self.retry_after.filter(|_| verdict.is_retryable()))
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
