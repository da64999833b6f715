use super::connection;
use crate::verdict::LostBy;
use crate::{Classify, Verdict};

macro_rules! classify_errors_of {
    ($reqwest:ident) => {
        /// | failure | verdict |
        /// |---|---|
        /// | no connection (including DNS failures and connect timeouts) | transient: nothing was sent |
        /// | timeout, even in the middle of the body | [`Verdict::TIMEOUT`] |
        /// | the connection closed, reset or canceled before the end of the response | transient, ambiguous |
        /// | a status, from `error_for_status` | the same as for the [`StatusCode`](http::StatusCode) |
        /// | an invalid request or address, an untrusted certificate, too many redirects, a malformed response or body | stop |
        ///
        /// In a browser, the error shows only that the connection failed, which is transient and ambiguous.
        ///
        /// An error for a status no longer has the response's headers and body. To keep `Retry-After` and billing
        /// codes, create the error with [`ErrorForRetry`](crate::ErrorForRetry) instead of `error_for_status`. If a
        /// call fails with a 429 from `error_for_status`, the log contains a warning once per call name.
        ///
        /// ```
        #[doc = concat!("use ", stringify!($reqwest), " as reqwest;")]
        /// use retry_runtime::{Classify, Verdict};
        ///
        /// let error = reqwest::Client::new().get("no address").build().unwrap_err();
        /// assert_eq!(error.classify(), Verdict::STOP);
        /// ```
        impl Classify for $reqwest::Error {
            fn classify(&self) -> Verdict {
                if let Some(status) = self.status() {
                    return status.classify().without_headers(LostBy::Reqwest);
                }
                if self.is_builder() || self.is_redirect() {
                    return Verdict::STOP;
                }
                // Checked before timeouts: if no connection was made, no request was sent.
                #[cfg(not(all(target_family = "wasm", target_os = "unknown")))]
                if self.is_connect() {
                    return connection::connect_verdict(self);
                }
                if self.is_timeout() {
                    return Verdict::TIMEOUT;
                }
                #[cfg(all(target_family = "wasm", target_os = "unknown"))]
                if let Some(verdict) = connection::fetch_verdict(self) {
                    return verdict;
                }
                connection::request_verdict(self)
            }

            describe_with_causes!();
        }
    };
}

#[cfg(feature = "reqwest_0_12")]
classify_errors_of!(reqwest_0_12);
#[cfg(feature = "reqwest_0_13")]
classify_errors_of!(reqwest_0_13);
