#[path = "../../../retry-runtime/src/budget/bucket.rs"]
pub(crate) mod bucket;
#[path = "../../../retry-runtime/src/budget/keyed.rs"]
pub(crate) mod keyed;
#[path = "../../../retry-runtime/src/budget/retry_budget.rs"]
pub(crate) mod retry_budget;
