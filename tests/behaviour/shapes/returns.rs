//! Return types: aliases, boxed errors, `impl Trait`, coercions.

use std::fmt::{Debug, Display};

use support::prelude::*;

use crate::shapes::{Busy, Flaky, check, check_blocking};

scripted! {
    #[retry(policy = flaky.policy, on = |_| true)]
    async fn io_result(flaky: &Flaky) -> io::Result<u32> = flaky.answer().map_err(io::Error::other);
    #[retry(policy = flaky.policy, on = |error| error.to_string().starts_with("busy"))]
    async fn local_boxed_error(flaky: &Flaky) -> Result<u32, Box<dyn Error>> = Ok(flaky.answer()?);
    #[retry(policy = flaky.policy, on = |_| true)]
    async fn impl_value(flaky: &Flaky) -> Result<impl Iterator<Item = u32> + Debug, Busy> = Ok(0..flaky.answer()?);
    #[retry(policy = flaky.policy, on = |_| true, attempt = attempt, give_up = GaveUp::into_error)]
    async fn impl_value_with_errors_kept(flaky: &Flaky) -> Result<impl Debug + Into<u32>, Busy> = {
        assert_eq!(attempt.number(), flaky.attempts() + 1);
        flaky.answer()
    };
    #[retry(policy = flaky.policy, on = |_| true)]
    async fn impl_error(flaky: &Flaky) -> Result<u32, impl Display> = flaky.answer();
    #[retry(policy = flaky.policy, on = |_| true, attempt = attempt, repeats = 9, give_up = GaveUp::into_error)]
    async fn impl_error_with_errors_kept(flaky: &Flaky) -> Result<impl Debug + Into<u32>, impl Error + PartialEq> = {
        assert_eq!(attempt.number(), flaky.attempts() + 1);
        flaky.answer()
    };
    #[retry(policy = flaky.policy, on = |_| true, fallback = async |gave_up| Err(gave_up.into_error()))]
    async fn impl_error_with_fallback(flaky: &Flaky) -> Result<impl Debug + Into<u32>, impl Error + Send> = flaky.answer();
    #[retry(policy = flaky.policy, on = |_| true)]
    async fn coerced(flaky: &Flaky) -> Result<Box<dyn Debug>, Busy> = Ok(Box::new(flaky.answer()?));
    #[retry(policy = flaky.policy, on = |_| true, validate = |_| Ok(()), attempt = attempt)]
    fn blocking_impl_error(flaky: &Flaky) -> Result<impl Debug + Into<u32>, impl Error + use<>> = {
        assert_eq!(attempt.number(), flaky.attempts() + 1);
        flaky.answer()
    };
    #[retry(policy = flaky.policy, on = |_| true)]
    fn blocking_impl_value(flaky: &Flaky) -> Result<(impl Iterator<Item = u32>, u32), Busy> = {
        let answer = flaky.answer()?;
        Ok((0..answer, answer))
    };
    #[retry(policy = flaky.policy, on = |_| true)]
    fn coerced_blocking(flaky: &Flaky) -> Result<Box<dyn Fn() -> u32>, Busy> = {
        let answer = flaky.answer()?;
        Ok(Box::new(move || answer))
    };
}

#[retry(policy = flaky.policy, on = |error| error.downcast_ref::<Busy>().is_some())]
async fn anyhow_result(flaky: &Flaky) -> anyhow::Result<u32> {
    let answer = flaky.answer()?;
    anyhow::ensure!(answer > 0, "no answer");
    Ok(answer)
}

#[retry(policy = flaky.policy, timeout = "1s", on = |error| error.is::<Busy>())]
async fn boxed_error(flaky: &Flaky) -> Result<u32, Box<dyn Error + Send + Sync>> {
    if flaky.attempts() > 100 {
        return Err("too many".into());
    }
    Ok(flaky.answer()?)
}

#[retry(policy = flaky.policy, on = |_| true)]
fn coerced_future(
    flaky: &Flaky,
) -> impl Future<Output = Result<Box<dyn Fn() -> u32>, Busy>> + use<'_> {
    async move {
        let answer = flaky.answer()?;
        Ok(Box::new(move || answer) as _)
    }
}

#[tokio::test(start_paused = true)]
async fn every_return_type() {
    check!(|flaky| io_result(flaky).await);
    check!(|flaky| anyhow_result(flaky).await);
    check!(|flaky| boxed_error(flaky).await);
    check!(|flaky| local_boxed_error(flaky).await);
    check!(|flaky| impl_value(flaky).await.map(|range| range.count() as u32));
    check!(|flaky| impl_value_with_errors_kept(flaky).await.map(Into::into));
    check!(|flaky| impl_error(flaky).await);
    check!(|flaky| impl_error_with_errors_kept(flaky).await.map(Into::into));
    check!(|flaky| impl_error_with_fallback(flaky).await.map(Into::into));
    check!(|flaky| coerced(flaky)
        .await
        .map(|answer| format!("{answer:?}").parse().unwrap()));
    check!(|flaky| coerced_future(flaky).await.map(|answer| answer()));
    check_blocking!(|flaky| blocking_impl_error(flaky).map(Into::into));
    check_blocking!(|flaky| blocking_impl_value(flaky).map(|(range, _)| range.count() as u32));
    check_blocking!(|flaky| coerced_blocking(flaky).map(|answer| answer()));
}
