use core::error::Error;
use core::fmt;

use http::{HeaderMap, StatusCode};

use crate::error_text::shown::{shown, shown_start};
use crate::{Classify, Verdict};

/// The maximum number of body bytes in the error's text. The cause is usually at the start.
const MAX_SHOWN: usize = 500;

/// An HTTP error response, with everything that retries depend on: the status, the headers and the start of the
/// body.
///
/// `reqwest`'s own error for a status has neither headers nor body. So `Retry-After` is lost, and a rate limit looks
/// like an unpaid bill: both are a 429. `ErrorForRetry` turns a `reqwest::Response` into this error; for other clients,
/// use [`new`](Self::new).
///
/// [`Classify`] returns the verdict of [`Verdict::from_http`]. With the feature `llm`, it also reads the body: see
/// [`ProviderError`](crate::llm::ProviderError).
///
/// ```
/// use std::time::Duration;
/// use http::{HeaderMap, StatusCode};
/// use retry_runtime::{Classify, ResponseError, Verdict};
///
/// let mut headers = HeaderMap::new();
/// headers.insert("retry-after", "2".parse()?);
/// let error = ResponseError::new(StatusCode::TOO_MANY_REQUESTS, headers, "slow down")
///     .url("https://api.example/v1/chat?key=secret");
///
/// assert_eq!(error.classify(), Verdict::THROTTLED.after(Duration::from_secs(2)));
/// let text = "429 Too Many Requests from https://api.example/v1/chat: slow down";
/// assert_eq!(error.to_string(), text);
/// # Ok::<_, http::header::InvalidHeaderValue>(())
/// ```
///
/// The error's text consists of the status, the URL and the first 500 bytes of the body. The URL is stored without its
/// query, fragment, user and password, because they can contain keys, and errors end up in logs.
#[derive(Clone)]
pub struct ResponseError(Box<Parts>);

#[derive(Clone)]
struct Parts {
    status: StatusCode,
    headers: HeaderMap,
    url: String,
    body: Vec<u8>,
    /// The text of the error that ended reading the body early.
    body_error: Option<String>,
}

impl ResponseError {
    /// The maximum length of a stored body: 16 KiB. Further bytes are dropped.
    pub const BODY_LIMIT: usize = 16 * 1024;

    /// Creates the error from a response's status, headers and body. The body is cut at
    /// [`BODY_LIMIT`](Self::BODY_LIMIT).
    pub fn new(status: StatusCode, headers: HeaderMap, body: impl Into<Vec<u8>>) -> Self {
        let mut body = body.into();
        body.truncate(Self::BODY_LIMIT);
        Self(Box::new(Parts {
            status,
            headers,
            url: String::new(),
            body,
            body_error: None,
        }))
    }

    /// Sets the URL, without its query, fragment, user and password.
    pub fn url(mut self, url: &str) -> Self {
        self.0.url = shown(url).to_string();
        self
    }

    /// The response's status.
    pub fn status(&self) -> StatusCode {
        self.0.status
    }

    /// The response's headers.
    pub fn headers(&self) -> &HeaderMap {
        &self.0.headers
    }

    /// The start of the body, as far as it was read: at most [`BODY_LIMIT`](Self::BODY_LIMIT) bytes.
    pub fn body(&self) -> &[u8] {
        &self.0.body
    }

    /// Parses the error in the body, in the formats of model APIs and AWS or as plain text. `None` if the body is empty
    /// or an HTML page, unless the header `x-amzn-errortype` names the error.
    #[cfg(feature = "llm")]
    pub fn provider_error(&self) -> Option<crate::llm::ProviderError> {
        crate::llm::ProviderError::from_response(self.0.status, &self.0.headers, &self.0.body)
    }
}

/// Like [`Verdict::from_http`]. With the feature `llm`, the verdict also depends on the body: see
/// [`ProviderError`](crate::llm::ProviderError).
#[diagnostic::do_not_recommend]
impl Classify for ResponseError {
    fn classify(&self) -> Verdict {
        #[cfg(feature = "llm")]
        if let Some(error) = self.provider_error() {
            return error.classify_response(self.0.status, &self.0.headers);
        }
        Verdict::from_http(self.0.status, &self.0.headers)
    }

    describe_with_causes!();
}

impl fmt::Display for ResponseError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let parts = &*self.0;
        write!(f, "{}", parts.status)?;
        if !parts.url.is_empty() {
            write!(f, " from {}", parts.url)?;
        }
        let text = String::from_utf8_lossy(&parts.body);
        let text = text.trim().trim_end_matches(char::REPLACEMENT_CHARACTER);
        if !text.is_empty() {
            // Bodies often contain line breaks and tabs.
            let text = text.replace(char::is_control, " ");
            write!(f, ": {}", shown_start(&text, MAX_SHOWN))?;
        }
        match &parts.body_error {
            Some(error) => write!(f, " (the body is incomplete: {})", shown(error)),
            None => Ok(()),
        }
    }
}

impl fmt::Debug for ResponseError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "ResponseError({self})")
    }
}

impl Error for ResponseError {}

/// `response.error_for_retry()`: like `error_for_status`, but the error keeps the headers and the body, because retries
/// depend on them.
///
/// Implemented for the `reqwest::Response` of every enabled major version. A 4xx or 5xx becomes a [`ResponseError`]
/// with its status, its headers and the start of its body; any other response is returned unread.
///
/// ```no_run
#[cfg_attr(feature = "reqwest_0_13", doc = "# use reqwest_0_13 as reqwest;")]
#[cfg_attr(not(feature = "reqwest_0_13"), doc = "# use reqwest_0_12 as reqwest;")]
/// use std::error::Error;
/// use retry_runtime::{ErrorForRetry, retry};
///
/// #[retry(max = 5)]
/// async fn fetch(url: &str) -> Result<String, Box<dyn Error + Send + Sync>> {
///     let response = reqwest::get(url).await?.error_for_retry().await?;
///     Ok(response.text().await?)
/// }
/// ```
///
/// At most [`ResponseError::BODY_LIMIT`] bytes of the body are read; if the body is longer, the connection is closed.
/// If the connection breaks, the error still has the status. If the body stalls, the method waits for the `timeout` of
/// the client or of the attempt, so set one. In a browser, the body is read as a whole, and is lost if the connection
/// breaks.
#[cfg(any(feature = "reqwest_0_12", feature = "reqwest_0_13"))]
pub trait ErrorForRetry: Sized {
    /// Returns the response, or an error for 4xx and 5xx.
    #[cfg(not(all(target_family = "wasm", target_os = "unknown")))]
    fn error_for_retry(self) -> impl Future<Output = Result<Self, ResponseError>> + Send;

    /// Returns the response, or an error for 4xx and 5xx. The future is not `Send`, because JavaScript values can't
    /// leave their thread.
    #[cfg(all(target_family = "wasm", target_os = "unknown"))]
    fn error_for_retry(self) -> impl Future<Output = Result<Self, ResponseError>>;
}

#[cfg(any(feature = "reqwest_0_12", feature = "reqwest_0_13"))]
macro_rules! error_for_retry_of {
    ($reqwest:ident) => {
        impl ErrorForRetry for $reqwest::Response {
            async fn error_for_retry(mut self) -> Result<Self, ResponseError> {
                let status = self.status();
                if !status.is_client_error() && !status.is_server_error() {
                    return Ok(self);
                }
                let url = self.url().as_str().to_owned();
                let headers = core::mem::take(self.headers_mut());
                let mut body = Vec::new();
                let mut body_error = None;
                // In a browser, a body can only be read as a whole.
                #[cfg(all(target_family = "wasm", target_os = "unknown"))]
                match self.bytes().await {
                    Ok(bytes) => body.extend(bytes.into_iter().take(ResponseError::BODY_LIMIT)),
                    Err(error) => body_error = Some(error.without_url().to_string()),
                }
                #[cfg(not(all(target_family = "wasm", target_os = "unknown")))]
                while body.len() < ResponseError::BODY_LIMIT {
                    match self.chunk().await {
                        Ok(Some(chunk)) => body.extend_from_slice(&chunk),
                        Ok(None) => break,
                        Err(error) => {
                            body_error = Some(error.without_url().to_string());
                            break;
                        }
                    }
                }
                let mut error = ResponseError::new(status, headers, body).url(&url);
                error.0.body_error = body_error;
                Err(error)
            }
        }
    };
}

#[cfg(feature = "reqwest_0_12")]
error_for_retry_of!(reqwest_0_12);
#[cfg(feature = "reqwest_0_13")]
error_for_retry_of!(reqwest_0_13);
