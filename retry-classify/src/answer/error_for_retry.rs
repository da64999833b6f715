use core::future::Future;

use crate::answer::response_error::ResponseError;

/// `response.error_for_retry()`: like `error_for_status`, but the error keeps the headers and the body, which decide
/// about retries.
///
/// It works on the `reqwest::Response` of every enabled major version. A 4xx or 5xx becomes a [`ResponseError`] with
/// its status, its headers and the start of its body; any other response is returned unread.
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
/// At most [`ResponseError::BODY_LIMIT`] bytes are kept; the connection of a longer body is closed. If the body breaks
/// off, the error still has the status. If the body stalls, this waits as long as the client's or the attempt's
/// `timeout` allows: set one. In a page, the body is read as a whole, and is lost if it breaks off.
pub trait ErrorForRetry: Sized {
    /// Returns the response, or, for 4xx and 5xx, the error.
    #[cfg(not(all(target_family = "wasm", target_os = "unknown")))]
    fn error_for_retry(self) -> impl Future<Output = Result<Self, ResponseError>> + Send;

    /// Returns the response, or, for 4xx and 5xx, the error. The future is not `Send`: JavaScript values stay on their
    /// thread.
    #[cfg(all(target_family = "wasm", target_os = "unknown"))]
    fn error_for_retry(self) -> impl Future<Output = Result<Self, ResponseError>>;
}

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
                let mut broken = None;
                // In a page, a body can only be read as a whole.
                #[cfg(all(target_family = "wasm", target_os = "unknown"))]
                match self.bytes().await {
                    Ok(bytes) => body.extend(bytes.into_iter().take(ResponseError::BODY_LIMIT)),
                    Err(error) => broken = Some(error.without_url().to_string()),
                }
                #[cfg(not(all(target_family = "wasm", target_os = "unknown")))]
                while body.len() < ResponseError::BODY_LIMIT {
                    match self.chunk().await {
                        Ok(Some(chunk)) => body.extend_from_slice(&chunk),
                        Ok(None) => break,
                        Err(error) => {
                            broken = Some(error.without_url().to_string());
                            break;
                        }
                    }
                }
                let mut error = ResponseError::new(status, headers, body).url(&url);
                error.0.body_error = broken;
                Err(error)
            }
        }
    };
}

#[cfg(feature = "reqwest_0_12")]
error_for_retry_of!(reqwest_0_12);
#[cfg(feature = "reqwest_0_13")]
error_for_retry_of!(reqwest_0_13);
