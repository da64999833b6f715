//! The responses and errors that other programs retry: `reqwest-retry` 0.9, `tests/all/retry.rs`, and uv,
//! `crates/uv-client`.

use std::io::ErrorKind;

use http::StatusCode;
use retry_runtime::on;
use support::prelude::*;

/// Statuses of servers that don't support the request, so that a retry doesn't help (RFC 9110, 15.6). `reqwest-retry`
/// retries these as well.
const LASTING: [u16; 6] = [501, 505, 507, 508, 510, 511];

#[test]
fn statuses_of_reqwest_retry() {
    let retried = [
        408, 429, 500, 501, 502, 503, 504, 505, 506, 507, 508, 510, 511,
    ];
    let not_retried = [
        200, 201, 202, 203, 204, 205, 206, 207, 226, 300, 301, 302, 303, 304, 307, 308, 400, 401,
        402, 403, 404, 405, 406, 407, 409, 410, 411, 412, 413, 414, 415, 416, 417, 418, 421, 422,
        423, 424, 426, 428, 431, 451,
    ];
    let is_retried = |status| {
        let status = StatusCode::from_u16(status).unwrap();
        status.classify().is_retryable()
    };
    for status in retried {
        assert_eq!(is_retried(status), !LASTING.contains(&status), "{status}");
    }
    for status in not_retried {
        assert!(!is_retried(status), "{status}");
    }
}

/// A connection that breaks while an archive is unpacked: the reader's error hides the one of the connection.
#[test]
fn errors_of_uv() {
    let reset = || io::Error::from(ErrorKind::ConnectionReset);
    let unpacking = io::Error::new(ErrorKind::InvalidData, reset());
    let ended = io::Error::other(io::Error::from(ErrorKind::UnexpectedEof));
    let in_context = io::Error::other(anyhow::Error::from(reset()).context("failed to download"));
    for error in [unpacking, ended, in_context] {
        assert!(error.classify().is_retryable(), "{error:?}");
        assert!(on::cause(&error).is_retryable(), "{error:?}");
        let boxed: Box<dyn Error + Send + Sync> = error.into();
        assert!(boxed.classify().is_retryable(), "{boxed:?}");
    }
    let garbled = io::Error::new(ErrorKind::InvalidData, "no archive");
    assert!(!garbled.classify().is_retryable());
}
