use core::error::Error;
use std::io;

use crate::sources::causes;
use crate::transport;
use crate::verdict::Verdict;

/// The verdict on a failure to connect: nothing was sent.
#[allow(dead_code)] // Unused in browsers, and if tonic's `Status` is the only client error.
pub(crate) fn connect_verdict(error: &(dyn Error + 'static)) -> Verdict {
    /// Texts of errors that a retry never fixes: from `hyper-util`, an address that is not HTTP or has no host; from
    /// rustls and OpenSSL, a bad certificate.
    const PERMANENT: [&str; 3] = [
        "invalid URL",
        "invalid peer certificate",
        "certificate verify failed",
    ];

    let mut texts = causes(error).map(ToString::to_string);
    if texts.any(|text| PERMANENT.iter().any(|part| text.contains(part))) {
        return Verdict::STOP;
    }
    Verdict::TRANSIENT
}

/// The verdict on a failed request that may have been sent.
///
/// Distinguishes broken connections from permanent faults that a client reports as the same error: a truncated body and
/// malformed JSON can both be decoding errors, and a closed connection and a malformed response can both be sending
/// errors.
pub(crate) fn request_verdict(error: &(dyn Error + 'static)) -> Verdict {
    if let Some(verdict) = reset_verdict(error) {
        return verdict;
    }
    let mut verdict = Verdict::STOP;
    for cause in causes(error) {
        if let Some(hyper) = cause.downcast_ref::<hyper::Error>() {
            if hyper.is_parse() || hyper.is_user() {
                return Verdict::STOP;
            }
            verdict = Verdict::TRANSIENT.ambiguous();
        } else if let Some(found) = transport::io_verdict(cause) {
            // An I/O error alone doesn't show whether the request was sent.
            return found.ambiguous_if(found.is_retryable() && cause.is::<io::Error>());
        }
    }
    verdict
}

/// The verdict on an HTTP/2 reset, by its code.
pub(crate) fn reset_verdict(error: &(dyn Error + 'static)) -> Option<Verdict> {
    causes(error).find_map(|cause| transport::reset_verdict(&cause.to_string()))
}

/// The verdict on a failure of a browser's `fetch`, including a failure while the response is read.
#[cfg(all(
    any(feature = "reqwest_0_12", feature = "reqwest_0_13"),
    any(test, all(target_family = "wasm", target_os = "unknown"))
))]
pub(crate) fn fetch_verdict(error: &(dyn Error + 'static)) -> Option<Verdict> {
    causes(error).find_map(|cause| {
        let text = cause.to_string();
        // `fetch` reports every failure as a `TypeError`, of which `reqwest` keeps only the text.
        let failed = text.starts_with("JsValue(TypeError");
        // `reqwest` aborts a request with this text, but reports a timeout only until the body starts.
        let timed_out = text == r#"JsValue("reqwest::errors::TimedOut")"#;
        match (failed, timed_out) {
            (true, _) => Some(Verdict::TRANSIENT.ambiguous()),
            (_, true) => Some(Verdict::TIMEOUT),
            _ => None,
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_broken_connection_is_found_inside_a_wrapper() {
        let broken = || io::Error::from(io::ErrorKind::UnexpectedEof);
        let expected = Verdict::TRANSIENT.ambiguous();
        assert_eq!(request_verdict(&broken()), expected);
        assert_eq!(request_verdict(&io::Error::other(broken())), expected);
        assert_eq!(request_verdict(&io::Error::other("text")), Verdict::STOP);
    }

    #[cfg(any(
        feature = "hyper_util_0_1",
        feature = "reqwest_0_12",
        feature = "reqwest_0_13"
    ))]
    #[test]
    fn an_untrusted_certificate_is_not_transient() {
        let refused = |kind, text: &str| io::Error::other(io::Error::new(kind, text));
        let invalid = io::ErrorKind::InvalidData;
        for text in [
            "invalid peer certificate: UnknownIssuer",
            "error:0A000086:SSL routines:tls_post_process_server_certificate:certificate verify failed",
            "invalid URL, scheme is not http",
        ] {
            assert_eq!(connect_verdict(&refused(invalid, text)), Verdict::STOP);
        }
        let alert = refused(invalid, "received fatal alert: InternalError");
        assert_eq!(connect_verdict(&alert), Verdict::TRANSIENT);
    }

    #[cfg(any(feature = "reqwest_0_12", feature = "reqwest_0_13"))]
    #[test]
    fn errors_of_fetch_are_recognized_by_their_text() {
        let broken = Some(Verdict::TRANSIENT.ambiguous());
        for (thrown, expected) in [
            ("JsValue(TypeError: Failed to fetch\nat …)", broken),
            (
                r#"JsValue("reqwest::errors::TimedOut")"#,
                Some(Verdict::TIMEOUT),
            ),
            (r#"JsValue("TypeError")"#, None),
            ("JsValue(SyntaxError: JSON.parse)", None),
        ] {
            let wrapped = io::Error::other(io::Error::other(thrown));
            assert_eq!(fetch_verdict(&wrapped), expected, "{thrown}");
        }
    }

    #[test]
    fn a_vague_kind_does_not_hide_a_broken_connection() {
        let broken = io::Error::from(io::ErrorKind::UnexpectedEof);
        let garbled = io::Error::new(io::ErrorKind::InvalidData, broken);
        assert_eq!(request_verdict(&garbled), Verdict::TRANSIENT.ambiguous());
        let garbled = io::Error::new(io::ErrorKind::InvalidData, "bad gzip");
        assert_eq!(request_verdict(&garbled), Verdict::STOP);
    }

    #[test]
    fn an_http2_error_code_decides() {
        for (text, expected) in [
            (
                "stream error received: refused stream before processing any application logic",
                Verdict::TRANSIENT,
            ),
            (
                "connection error received: not a result of an error",
                Verdict::TRANSIENT,
            ),
            (
                "stream error received: detected excessive load generating behavior",
                Verdict::THROTTLED.ambiguous(),
            ),
            (
                "connection error received: not a result of an error (b\"bye\")",
                Verdict::TRANSIENT,
            ),
            (
                "stream error received: unspecific protocol error detected",
                Verdict::STOP,
            ),
        ] {
            let error = io::Error::other(text);
            assert_eq!(request_verdict(&error), expected, "{text}");
        }
    }
}
