//! Verdicts on I/O errors, timeouts and connection errors, regardless of the client.

use alloc::format;
use alloc::string::ToString;
use core::error::Error;
#[cfg(feature = "std")]
use std::io;

use crate::sources::downcast;
#[cfg(feature = "std")]
use crate::sources::is_wrapper;
use crate::{Cancelled, Classify, Rejected, TimedOut, Verdict};

/// The verdict on a cause that is an I/O error, one of this crate's errors, or an error that is recognized by its text.
pub(crate) fn io_verdict(cause: &(dyn Error + 'static)) -> Option<Verdict> {
    #[cfg(feature = "std")]
    if let Some(io) = downcast::<io::Error>(cause).filter(|io| !is_wrapper(io)) {
        return Some(io.classify());
    }
    downcast(cause)
        .map(TimedOut::classify)
        .or_else(|| downcast(cause).map(Rejected::classify))
        .or_else(|| downcast(cause).map(Cancelled::classify))
        .or_else(|| text_verdict(cause))
}

/// h2's error texts that give a more specific reason than a broken connection: the scope, the reason, the verdict.
#[rustfmt::skip] // One text per line.
const RESETS: [(&str, &str, Verdict); 5] = [
    // The server did not process the request (RFC 9113, section 8.7): it refused the stream, or the stream comes after
    // the last one that a closing connection still serves.
    ("stream", "refused stream before processing", Verdict::TRANSIENT),
    ("connection", "not a result of an error", Verdict::TRANSIENT),
    // The server treats the client's load as an attack: `ENHANCE_YOUR_CALM`.
    ("stream connection", "detected excessive load", Verdict::THROTTLED.ambiguous()),
    // No retry over the same protocol fixes these errors: `HTTP_1_1_REQUIRED` and `INADEQUATE_SECURITY`.
    ("stream connection", "endpoint requires HTTP/1.1", Verdict::STOP),
    ("stream connection", "security properties do not meet", Verdict::STOP),
];

pub(crate) fn reset_verdict(text: &str) -> Option<Verdict> {
    let (whose, reason) = text.split_once(" error received: ")?;
    let is = |of: &str, text| of.split(' ').any(|of| of == whose) && reason.starts_with(text);
    let row = RESETS.iter().find(|(of, text, _)| is(of, *text))?;
    Some(row.2)
}

/// Errors from crates that this crate doesn't depend on, or whose error types are not public: the start of their
/// `Debug` output, a part of their `Display` text, and the verdict.
#[rustfmt::skip] // One error per line.
const BY_TEXT: [(&str, &str, Verdict); 10] = [
    // tokio's `timeout`; tower's `timeout` and `load_shed`; tower-http's `timeout`
    ("Elapsed(())", "deadline has elapsed", Verdict::TIMEOUT),
    ("Elapsed(())", "request timed out", Verdict::TIMEOUT),
    ("Overloaded", "service overloaded", Verdict::THROTTLED),
    ("TimeoutError(())", "data was not received within", Verdict::TIMEOUT),
    // tonic's channels and reqwest's request timeout
    ("TimeoutExpired(())", "Timeout expired", Verdict::TIMEOUT),
    ("TimedOut", "operation timed out", Verdict::TIMEOUT),
    // h2
    ("Error { kind: Reset(", "stream error received: ", BROKEN),
    ("Error { kind: GoAway(", "connection error received: ", BROKEN),
    // rustls, native-tls
    ("AlertReceived(InternalError)", "received fatal alert", BROKEN),
    ("Ssl(", "unexpected eof while reading", BROKEN),
];
const BROKEN: Verdict = Verdict::TRANSIENT.ambiguous();

fn text_verdict(cause: &(dyn Error + 'static)) -> Option<Verdict> {
    let text = cause.to_string();
    let is = |debug| format!("{cause:?}").starts_with(debug);
    if let Some(verdict) = reset_verdict(&text) {
        return is("Error { kind: ").then_some(verdict);
    }
    let mut rows = BY_TEXT.iter();
    let row = rows.find(|(debug, part, _)| text.contains(part) && is(*debug))?;
    Some(row.2)
}
