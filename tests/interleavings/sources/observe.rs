#[path = "../../../retry-runtime/src/observe/cause.rs"]
pub(crate) mod cause;
#[path = "../../../retry-runtime/src/observe/changed.rs"]
pub(crate) mod changed;
