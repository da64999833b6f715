//! [`rig-core`](https://docs.rs/rig-core/0.44) 0.44.
//!
//! ```
//! use retry_clients::rig::classify;
//! use retry_runtime::retry;
//! use rig_core::DynModel;
//! use rig_core::completion::{CompletionRequest, CompletionResponse};
//! use rig_core::error::ProviderError;
//! use rig_core::operation::Completion;
//!
//! struct Assistant(DynModel<Completion>);
//!
//! impl Assistant {
//!     #[retry(max = 5, on = classify)]
//!     async fn ask(
//!         &self,
//!         question: &str,
//!     ) -> Result<CompletionResponse, ProviderError> {
//!         self.0.call(CompletionRequest::new(question)).await
//!     }
//! }
//! # let _ = Assistant::ask;
//! ```
//!
//! This client's stream sends its request only when it is polled. Retry such a stream with `stream = "first"` or
//! `stream = "buffer"`. A truncated stream ends with an error from rig.

use retry_runtime::{Classify, ResponseError, Verdict, llm};
use rig_core::error::{ErrorKind, ErrorReport, ProviderError};
use rig_core::{ProviderResponseError, http_client};

use crate::causes::{BROKEN, by_reqwest};

/// Classifies an error from this client.
///
/// | failure | verdict |
/// |---|---|
/// | a response with 408 or a retryable 5xx, 503 only without a hint | transient, ambiguous |
/// | 425, 503 with a hint | transient: not processed |
/// | 429 | throttled |
/// | no connection, if the transport is `reqwest` 0.13 | transient |
/// | any other transport failure; a truncated response | transient, ambiguous |
/// | a timeout of `reqwest` 0.13, or a relayed timeout | timeout |
/// | a body with an error code for throttling or overload, with any status | by its `type`, `code` and `status` |
/// | an error in place of a response or a stream item | by its `type`, `code` and `status`, or else by rig's own verdict |
/// | limits that waiting doesn't lift, such as a daily quota or an unpaid bill; other statuses; refusals; rejected keys; invalid requests; unreadable responses | stop |
///
/// Rig's own `is_retryable` is also true for `insufficient_quota`, 501 and 505. The header `x-should-retry` overrides
/// the status. Hints in headers and in Google's bodies are used.
pub fn classify(error: &ProviderError) -> Verdict {
    match error {
        ProviderError::ProviderResponse(reply) => reply_verdict(reply),
        ProviderError::Http(error) => transport_verdict(error),
        ProviderError::Relayed(report) => report_verdict(report),
        error => error.is_retryable().into(),
    }
}

fn reply_verdict(reply: &ProviderResponseError) -> Verdict {
    if reply.refusal {
        return Verdict::STOP;
    }
    if let Some(status) = reply.status
        && !status.is_success()
    {
        let headers = reply.headers.clone().unwrap_or_default();
        return ResponseError::new(status, headers, &*reply.body).classify();
    }
    match llm::ProviderError::parse(&reply.body) {
        Some(error) if error.fault() != llm::Fault::Unknown => error.classify(),
        _ => reply.is_retryable().into(),
    }
}

fn transport_verdict(error: &http_client::Error) -> Verdict {
    match error {
        http_client::Error::Instance(error) => by_reqwest(&**error).unwrap_or(BROKEN),
        error => rig_core::error::transient_transport(error).into(),
    }
}

fn report_verdict(report: &ErrorReport) -> Verdict {
    match &report.provider_response {
        Some(reply) if !report.refusal => reply_verdict(reply),
        _ if report.retryable && report.kind == ErrorKind::Timeout => Verdict::TIMEOUT,
        _ => report.retryable.into(),
    }
}
