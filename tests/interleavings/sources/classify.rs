#[path = "../../../retry-runtime/src/classify/kind.rs"]
pub(crate) mod kind;
#[path = "../../../retry-runtime/src/classify/lost_headers.rs"]
pub(crate) mod lost_headers;
#[path = "../../../retry-runtime/src/classify/verdict.rs"]
pub(crate) mod verdict;
