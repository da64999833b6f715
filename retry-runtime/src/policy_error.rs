//! Stub.
/// Stub.
#[derive(Debug)]
pub struct PolicyError;
