use crate::verdict::Verdict;

/// Statuses of 500 and above by which a server that is well says what it can't do: not implemented, a version that is not
/// supported, missing extensions.
const UNSUPPORTED: [u16; 3] = [501, 505, 510];
/// Those that no repetition heals, of a server that can't be reached or can't work: storage, loops, a network that wants a
/// login; at Cloudflare, TLS and certificates.
const LASTING: [u16; 5] = [507, 508, 511, 525, 526];

/// The kind of verdict that a status alone gives. A client treats a status that it does not know as the x00 of its class
/// (RFC 9110, section 15).
pub(crate) fn by_status(status: u16) -> Verdict {
    match status {
        // 420: Twitter's, before there was a 429; ESI and Mailgun still send it.
        420 | 429 => Verdict::THROTTLED,
        // 449: Microsoft's "Retry With".
        408 | 425 | 449 => Verdict::TRANSIENT,
        500..=599 if LASTING.contains(&status) => Verdict::TRANSIENT.once(),
        500..=599 if !UNSUPPORTED.contains(&status) => Verdict::TRANSIENT,
        _ => Verdict::STOP,
    }
}

/// Whether a 4xx says nothing lasting, so that a wait in the headers beside it means that the same request may succeed: a
/// conflict, a body that is too large for now (RFC 9110, 15.5.14), a lock, and what no standard defines.
#[cfg(feature = "http")]
pub(crate) fn may_pass(status: u16) -> bool {
    matches!(
        status,
        409 | 413 | 418 | 419 | 423 | 427 | 430 | 432..=448 | 450 | 452..=499
    )
}

/// The verdict on an answer that something else than its status calls final. What answered with a 5xx is not well, and to
/// breakers and budgets no success.
#[cfg(feature = "http")]
pub(crate) fn stopped(status: u16) -> Verdict {
    match status {
        500..=599 => by_status(status).once(),
        _ => Verdict::STOP,
    }
}
