#[path = "../../../retry-runtime/src/observe/cause.rs"]
pub(crate) mod cause;
