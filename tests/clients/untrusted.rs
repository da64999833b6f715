//! A server whose certificate is not trusted.

use reqwest_0_13::dns::{Name, Resolve, Resolving};

/// A resolver whose error looks like a TLS failure in `reqwest`.
pub(crate) struct Untrusted;

impl Resolve for Untrusted {
    fn resolve(&self, _: Name) -> Resolving {
        Box::pin(async { Err("invalid peer certificate: UnknownIssuer".into()) })
    }
}
