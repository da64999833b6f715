use crate::verdict::Verdict;

/// The verdict from the status alone. An unknown status is treated as the x00 of its class (RFC 9110, section 15).
pub(crate) fn by_status(status: u16) -> Verdict {
    match status {
        // 420: Twitter's status before 429 existed; ESI and Mailgun still send it.
        420 | 429 => Verdict::THROTTLED,
        // The server is healthy, but doesn't support the method or the version, or requires an extension.
        501 | 505 | 510 => Verdict::STOP,
        // No retry fixes a full disk, a loop, a network that requires a login, or, at Cloudflare, a TLS failure or a
        // bad certificate.
        507 | 508 | 511 | 525 | 526 => Verdict::TRANSIENT.once(),
        // 449: Microsoft's "Retry With".
        408 | 425 | 449 | 500..=599 => Verdict::TRANSIENT,
        _ => Verdict::STOP,
    }
}

/// Returns true if a 4xx may be temporary, so that the same request may succeed after a wait that the headers contain:
/// a conflict, a body that is too large for now (RFC 9110, 15.5.14), a lock, or a non-standard status.
#[cfg(feature = "http")]
pub(crate) fn may_recover(status: u16) -> bool {
    matches!(status, 409 | 413 | 423) || is_non_standard(status)
}

/// Returns true for a 4xx that no standard defines.
#[cfg(any(feature = "http", feature = "llm"))]
pub(crate) fn is_non_standard(status: u16) -> bool {
    matches!(status, 418 | 419 | 427 | 430 | 432..=448 | 450 | 452..=499)
}

/// The verdict on a response that is final for a reason other than its status. After a 5xx, except 501, 505 and 510,
/// breakers and budgets still count a failure, because the server is unhealthy.
#[cfg(feature = "http")]
pub(crate) fn final_verdict(status: u16) -> Verdict {
    match status {
        500..=599 => by_status(status).once(),
        _ => Verdict::STOP,
    }
}
