//! A server whose certificate is not trusted.

use reqwest_0_13::dns::{Name, Resolve, Resolving};

/// How TLS fails in `reqwest`, where connecting does: in place of an address.
pub(crate) struct Untrusted;

impl Resolve for Untrusted {
    fn resolve(&self, _: Name) -> Resolving {
        Box::pin(async { Err("invalid peer certificate: UnknownIssuer".into()) })
    }
}
