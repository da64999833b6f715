//! The [AWS SDK](https://docs.rs/aws-config/1), with all of its services: `aws-sdk-*` 1.
//!
//! ```
//! use aws_sdk_sts::config::{BehaviorVersion, Config, retry::RetryConfig};
//! use aws_sdk_sts::operation::get_caller_identity::{
//!     GetCallerIdentityError, GetCallerIdentityOutput,
//! };
//! use aws_sdk_sts::{Client, error::SdkError};
//! use retry_clients::aws_sdk::classify;
//! use retry_runtime::retry;
//!
//! struct Identity(Client);
//!
//! impl Identity {
//!     #[retry(max = 5, on = classify)]
//!     async fn caller(
//!         &self,
//!     ) -> Result<GetCallerIdentityOutput, SdkError<GetCallerIdentityError>> {
//!         self.0.get_caller_identity().send().await
//!     }
//! }
//!
//! // With its default configuration, this client sends up to three requests per call.
//! let config = Config::builder()
//!     .behavior_version(BehaviorVersion::latest())
//!     .retry_config(RetryConfig::disabled())
//!     .build();
//! let identity = Identity(Client::from_conf(config));
//! # let _ = (Identity::caller, identity);
//! ```

use aws_smithy_runtime_api::client::orchestrator::HttpResponse;
use aws_smithy_runtime_api::client::result::{ConnectorError, DispatchFailure, SdkError};
use aws_smithy_types::error::metadata::ProvideErrorMetadata;
use http::{HeaderMap, HeaderName, HeaderValue, StatusCode};
use retry_runtime::{Classify, ResponseError, Verdict};

use crate::causes::BROKEN;

/// Classifies an error from an AWS client. Retries the same failures as the AWS SDKs ([AWS SDKs and Tools Reference
/// Guide, "Retry behavior"][guide]).
///
/// | failure | verdict |
/// |---|---|
/// | a response with 408 or a retryable 5xx, 503 only without a hint; `RequestTimeout`, `RequestTimeoutException`, `InternalError` | transient, ambiguous |
/// | 425, 503 with a hint | transient: not processed |
/// | 429; `ThrottlingException`, `SlowDown` and the other throttling codes | throttled |
/// | no connection, an untrusted certificate, a broken connection, a truncated response | transient, ambiguous |
/// | a timeout | timeout |
/// | anything else | stop |
///
/// The hint is `retry-after`, or else `x-amz-retry-after`: see [`retry_after`](retry_runtime::retry_after).
///
/// [guide]: https://docs.aws.amazon.com/sdkref/latest/guide/feature-retry-behavior.html
pub fn classify<E: ProvideErrorMetadata>(error: &SdkError<E, HttpResponse>) -> Verdict {
    match error {
        SdkError::TimeoutError(_) => Verdict::TIMEOUT,
        SdkError::DispatchFailure(failure) => dispatch_verdict(failure),
        SdkError::ResponseError(_) => BROKEN,
        SdkError::ServiceError(error) => response_verdict(error.err().code(), error.raw()),
        _ => Verdict::STOP,
    }
}

fn dispatch_verdict(failure: &DispatchFailure) -> Verdict {
    let is_worth_a_retry = failure.is_io()
        || failure
            .as_connector_error()
            .and_then(ConnectorError::as_other)
            .is_some();
    if failure.is_timeout() {
        Verdict::TIMEOUT
    } else {
        is_worth_a_retry.into()
    }
}

fn response_verdict(code: Option<&str>, answer: &HttpResponse) -> Verdict {
    let status = StatusCode::from_u16(answer.status().as_u16()).unwrap_or_default();
    let mut headers = headers(answer);
    // Not every protocol sends the code in a header.
    if let Some(code) = code.and_then(|code| HeaderValue::from_str(code).ok()) {
        headers.insert("x-amzn-errortype", code);
    }
    ResponseError::new(status, headers, "").classify()
}

fn headers(answer: &HttpResponse) -> HeaderMap {
    let pairs = answer.headers().iter().filter_map(|(name, value)| {
        let name = HeaderName::from_bytes(name.as_bytes()).ok()?;
        Some((name, HeaderValue::from_str(value).ok()?))
    });
    pairs.collect()
}
