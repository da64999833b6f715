//! Stub.
/// Stub.
pub fn retry_after() {}
