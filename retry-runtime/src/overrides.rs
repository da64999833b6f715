//! Stub.
/// Stub.
#[derive(Debug)]
pub struct Overrides;
