//! Other attributes on the same function, which are kept, in either order, and `cfg_attr`.

use support::prelude::*;

use crate::shapes::{Busy, Flaky, check, check_blocking};

scripted! {
    #[tracing::instrument(skip_all)]
    #[retry(policy = flaky.policy, on = |_| true)]
    async fn instrument_above(flaky: &Flaky, prompt: String) -> Result<u32, Busy> = flaky.answer_to(&prompt);
    #[tracing::instrument(skip(flaky), err, ret)]
    #[retry(policy = flaky.policy, on = |_| true)]
    async fn instrument_err_above(flaky: &Flaky, prompt: String) -> Result<u32, Busy> = Ok(flaky.answer_to(&prompt)?);
    #[tracing::instrument(skip(flaky), ret)]
    #[retry(policy = flaky.policy, on = |_| true)]
    async fn instrument_ret_above(flaky: &Flaky, prompt: String) -> Result<u32, Busy> = Ok(flaky.answer_to(&prompt)?);
    #[tracing::instrument(skip(flaky), err)]
    #[retry(policy = flaky.policy, on = |_| true)]
    async fn instrument_only_err_above(flaky: &Flaky, prompt: String) -> Result<u32, Busy> = Ok(flaky.answer_to(&prompt)?);
    #[retry(policy = flaky.policy, on = |_| true)]
    #[tracing::instrument(skip_all, err)]
    async fn instrument_below(flaky: &Flaky, prompt: String) -> Result<u32, Busy> = flaky.answer_to(&prompt);
    #[tracing::instrument(skip_all)]
    #[retry(policy = flaky.policy, on = |_| true)]
    fn instrument_blocking_above(flaky: &Flaky, prompt: String) -> Result<u32, Busy> = flaky.answer_to(&prompt);
    #[tracing::instrument(skip_all, err, ret)]
    #[retry(policy = flaky.policy, on = |_| true)]
    fn instrument_blocking_err_above(flaky: &Flaky, prompt: String) -> Result<u32, Busy> = flaky.answer_to(&prompt);
    #[tracing::instrument(skip_all, ret)]
    #[retry(policy = flaky.policy, on = |_| true)]
    fn instrument_blocking_ret_above(flaky: &Flaky, prompt: String) -> Result<u32, Busy> = flaky.answer_to(&prompt);
    #[retry(policy = flaky.policy, on = |_| true)]
    #[tracing::instrument(skip_all)]
    fn instrument_blocking_below(flaky: &Flaky, prompt: String) -> Result<u32, Busy> = flaky.answer_to(&prompt);
    #[cfg_attr(all(), retry(policy = flaky.policy, on = |_| true))]
    async fn conditional(flaky: &Flaky) -> Result<u32, Busy> = flaky.answer();
    #[cfg_attr(any(), retry)]
    async fn absent(flaky: &Flaky) -> Result<u32, Busy> = flaky.answer();
}

#[tracing::instrument(skip_all)]
#[retry(policy = flaky.policy, on = |_| true)]
fn instrument_future_above(
    flaky: &Flaky,
    prompt: String,
) -> impl Future<Output = Result<u32, Busy>> {
    async move { flaky.answer_to(&prompt) }
}

/// Documented.
#[inline]
#[must_use = "kept"]
#[deprecated = "kept"]
#[retry(policy = flaky.policy, on = |_| true)]
#[allow(clippy::needless_pass_by_value)]
pub(crate) async fn decorated(flaky: &Flaky, prompt: String) -> Result<u32, Busy> {
    flaky.answer_to(&prompt)
}

fn hello() -> String {
    String::from("hello")
}

#[tokio::test(start_paused = true)]
async fn instrument() {
    check!(|flaky| instrument_above(flaky, hello()).await);
    check!(|flaky| instrument_err_above(flaky, hello()).await);
    check!(|flaky| instrument_ret_above(flaky, hello()).await);
    check!(|flaky| instrument_only_err_above(flaky, hello()).await);
    check!(|flaky| instrument_below(flaky, hello()).await);
    check!(|flaky| instrument_future_above(flaky, hello()).await);
    check_blocking!(|flaky| instrument_blocking_above(flaky, hello()));
    check_blocking!(|flaky| instrument_blocking_err_above(flaky, hello()));
    check_blocking!(|flaky| instrument_blocking_ret_above(flaky, hello()));
    check_blocking!(|flaky| instrument_blocking_below(flaky, hello()));
}

#[tokio::test(start_paused = true)]
#[expect(deprecated, reason = "the attribute must survive")]
async fn cfg_attr_and_others() {
    check!(|flaky| conditional(flaky).await);
    let flaky = Flaky::new(1, Jitter::None);
    assert_eq!(absent(&flaky).await, Err(Busy(1)));
    check!(|flaky| decorated(flaky, hello()).await);
}
