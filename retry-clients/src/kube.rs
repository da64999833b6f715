//! [`kube`](https://docs.rs/kube/5) 5.
//!
//! ```
//! use k8s_openapi::api::core::v1::ConfigMap;
//! use kube::{Api, Client, Config};
//! use retry_clients::kube::{classify, without_retries};
//! use retry_runtime::retry;
//!
//! struct Settings(Api<ConfigMap>);
//!
//! impl Settings {
//!     #[retry(max = 5, on = classify)]
//!     async fn read(&self, name: &str) -> kube::Result<ConfigMap> {
//!         self.0.get(name).await
//!     }
//! }
//!
//! fn client(config: Config) -> kube::Result<Client> {
//!     Client::try_from(without_retries(config))
//! }
//! # let _ = (Settings::read, client);
//! ```

use ::kube::core::Status;
use ::kube::{Config, Error};
use http::header::RETRY_AFTER;
use http::{HeaderMap, StatusCode};
use retry_runtime::{Classify, Verdict};

/// Classifies an error from this client.
///
/// | failure | verdict |
/// |---|---|
/// | 408 or a retryable 5xx, 503 only without a hint | transient, ambiguous |
/// | 425, 503 with a hint | transient: not processed |
/// | 429 | throttled |
/// | no connection | transient |
/// | a broken connection | transient, ambiguous |
/// | other statuses (409: read the object again first), an expired login, a bad configuration, an unreadable response | stop |
///
/// The hint is `details.retryAfterSeconds` in the response. This client drops the headers.
pub fn classify(error: &Error) -> Verdict {
    match error {
        Error::Api(status) => status_verdict(status),
        Error::Service(error) => error.classify(),
        Error::HyperError(error) => error.classify(),
        Error::ReadEvents(error) => error.classify(),
        _ => Verdict::STOP,
    }
}

fn status_verdict(status: &Status) -> Verdict {
    let details = status.details.as_ref();
    let wait = details.map(|details| details.retry_after_seconds);
    let wait = wait.filter(|wait| *wait > 0);
    let headers = HeaderMap::from_iter(wait.map(|wait| (RETRY_AFTER, wait.into())));
    match StatusCode::from_u16(status.code) {
        // The object has changed, so the same request would fail again after any wait.
        Ok(StatusCode::CONFLICT) | Err(_) => Verdict::STOP,
        Ok(code) => Verdict::from_http(code, &headers),
    }
}

/// Returns the configuration for a client that sends one request per call, instead of up to 16 after 429, 503 and 504.
pub fn without_retries(mut config: Config) -> Config {
    config.default_retry = false;
    config
}
