#[path = "../../../retry-runtime/src/budget/bucket.rs"]
pub(crate) mod bucket;

pub(crate) mod retry_budget {
    pub(crate) use retry_runtime::seam::{Paid, RetryBudget};
}
