use crate::classify::verdict::Verdict;

/// Statuses of 500 and above that no repetition heals: not implemented, a version that is not supported, negotiation,
/// storage, loops, missing extensions, a network that wants a login; at Cloudflare, TLS and certificates.
const LASTING: [u16; 8] = [501, 505, 507, 508, 510, 511, 525, 526];

/// The kind of verdict that a status alone gives. A client treats a status that it does not know as the x00 of its class
/// (RFC 9110, section 15).
pub(crate) fn by_status(status: u16) -> Verdict {
    match status {
        429 => Verdict::THROTTLED,
        408 | 425 => Verdict::TRANSIENT,
        500..=599 if !LASTING.contains(&status) => Verdict::TRANSIENT,
        _ => Verdict::STOP,
    }
}
