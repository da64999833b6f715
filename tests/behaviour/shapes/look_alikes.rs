//! Users' bodies that look like the output of other attributes. Every attempt runs the whole body.

use support::prelude::*;

use crate::shapes::{Busy, Flaky, check, check_blocking};

#[retry(policy = flaky.policy, on = |_| true)]
async fn local_of_async_trait_in_a_block(flaky: &Flaky) -> Result<u32, Busy> {
    let answer = flaky.answer();
    if flaky.attempts() > 0 {
        let __ret: Result<u32, Busy> = { answer };
        #[allow(unreachable_code)]
        return __ret;
    }
    answer
}

#[retry(policy = flaky.policy, on = |_| true)]
fn boxed_with_local_of_async_trait<'a>(
    flaky: &'a Flaky,
) -> Pin<Box<dyn Future<Output = Result<u32, Busy>> + Send + 'a>> {
    Box::pin(async move {
        let answer = flaky.answer();
        let __ret: Result<u32, Busy> = { answer };
        #[allow(unreachable_code)]
        __ret
    })
}

#[retry(policy = flaky.policy, on = |_| true)]
async fn local_of_instrument(flaky: &Flaky) -> Result<u32, Busy> {
    let answer = flaky.answer();
    let __tracing_instrument_future = async { answer };
    __tracing_instrument_future.await
}

#[retry(policy = flaky.policy, on = |_| true)]
async fn local_of_instrument_in_a_block(flaky: &Flaky) -> Result<u32, Busy> {
    let answer = flaky.answer();
    {
        let __tracing_attr_span = ();
        let __tracing_instrument_future = async move { answer };
        let () = __tracing_attr_span;
        __tracing_instrument_future.await
    }
}

#[retry(policy = flaky.policy, on = |_| true)]
fn locals_of_instrument_blocking(flaky: &Flaky) -> Result<u32, Busy> {
    let __tracing_attr_guard = flaky.answer();
    let answer = __tracing_attr_guard?;
    (move || {
        let answer = u32::from(answer > 0) * answer;
        Ok(answer)
    })()
}

#[retry(policy = flaky.policy, on = |_| true)]
fn block_with_the_lint_of_instrument(flaky: &Flaky) -> Result<u32, Busy> {
    let __tracing_attr_guard = flaky.answer()?;
    #[warn(clippy::suspicious_else_formatting)]
    {
        Ok(__tracing_attr_guard)
    }
}

#[retry(policy = flaky.policy, on = |_| true)]
async fn awaited_in_a_local(flaky: &Flaky) -> Result<u32, Busy> {
    let answer = flaky.answer();
    let x = async move { answer }.await;
    x
}

/// Starts like a body under `#[async_trait]`, but continues.
#[retry(policy = flaky.policy, on = |_| true)]
async fn beginning_of_async_trait(flaky: &Flaky) -> Result<u32, Busy> {
    if let ::core::option::Option::Some(__ret) = ::core::option::Option::None::<Result<u32, Busy>> {
        #[allow(unreachable_code)]
        return __ret;
    }
    let answer = flaky.answer();
    let __ret: Result<u32, Busy> = { answer };
    let answer = __ret?;
    Ok(answer)
}

#[retry(policy = flaky.policy, on = |_| true)]
fn pinned_after_a_choice<'a>(
    flaky: &'a Flaky,
) -> Pin<Box<dyn Future<Output = Result<u32, Busy>> + Send + 'a>> {
    let answer = flaky.answer();
    Box::pin(async move {
        let __ret: Result<u32, Busy> = { answer };
        __ret
    })
}

#[tokio::test(start_paused = true)]
async fn every_attempt_runs_the_whole_body() {
    check!(|flaky| local_of_async_trait_in_a_block(flaky).await);
    check!(|flaky| boxed_with_local_of_async_trait(flaky).await);
    check!(|flaky| local_of_instrument(flaky).await);
    check!(|flaky| local_of_instrument_in_a_block(flaky).await);
    check!(|flaky| awaited_in_a_local(flaky).await);
    check!(|flaky| beginning_of_async_trait(flaky).await);
    check!(|flaky| pinned_after_a_choice(flaky).await);
    check_blocking!(|flaky| locals_of_instrument_blocking(flaky));
    check_blocking!(|flaky| block_with_the_lint_of_instrument(flaky));
}
