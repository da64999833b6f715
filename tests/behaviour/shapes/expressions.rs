//! The positions of an expression.

use support::prelude::*;

use crate::shapes::{Busy, Flaky, check, check_blocking};

async fn in_a_function(flaky: &Flaky) -> Result<u32, Busy> {
    retrying!(policy = flaky.policy, on = |_| true, async {
        flaky.answer()
    })
    .await
}

fn in_a_blocking_function(flaky: &Flaky) -> Result<u32, Busy> {
    let answer = retrying!(policy = flaky.policy, on = |_| true, { flaky.answer() })?;
    Ok(answer)
}

async fn in_a_generic_function<T: Clone, E>(
    flaky: &Flaky,
    value: T,
    fail: impl Fn(Busy) -> E,
    is_failure: impl Fn(&E) -> bool + Copy,
) -> Result<(u32, T), E> {
    retrying!(policy = flaky.policy, on = is_failure, async {
        let answer = flaky.answer().map_err(&fail)?;
        Ok((answer, value.clone()))
    })
    .await
}

fn future<'a>(flaky: &'a Flaky) -> impl Future<Output = Result<u32, Busy>> + Send + 'a {
    retrying!(policy = flaky.policy, on = |_| true, async move {
        flaky.answer()
    })
}

macro_rules! persistent {
    ($flaky:expr, $block:block) => {
        retrying!(policy = $flaky.policy, on = |_| true, $block)
    };
    ($flaky:expr, async $block:expr) => {
        retrying!(policy = $flaky.policy, on = |_| true, async { $block })
    };
    ($flaky:expr, whole $future:expr) => {
        retrying!(policy = $flaky.policy, on = |_| true, $future)
    };
}

#[tokio::test(start_paused = true)]
async fn an_expression_works_in_any_position() {
    check!(|flaky| in_a_function(flaky).await);
    check!(|flaky| future(flaky).await);
    check!(|flaky| {
        let called = in_a_generic_function(flaky, "value", |busy| busy, |_| true).await;
        called.map(|(answer, _)| answer)
    });
    check!(|flaky| {
        let closure = async |flaky: &Flaky| {
            retrying!(policy = flaky.policy, on = |_| true, async {
                flaky.answer()
            })
            .await
        };
        closure(flaky).await
    });
    check!(|flaky| persistent!(flaky, async flaky.answer()).await);
    check!(|flaky| persistent!(flaky, whole async { flaky.answer() }).await);
    check_blocking!(|flaky| in_a_blocking_function(flaky));
    check_blocking!(|flaky| persistent!(flaky, { flaky.answer() }));
}

#[tokio::test(start_paused = true)]
async fn each_iteration_of_a_loop_is_a_separate_call() {
    let mut attempts = Vec::new();
    for item in 0..3 {
        let outcome = retrying!(max = item, attempt = attempt, async {
            attempts.push((item, attempt.number()));
            Err::<(), _>(TRANSIENT)
        });
        if outcome.await == Err(STOP) {
            break;
        }
    }
    assert_eq!(attempts, [(0, 1), (1, 1), (1, 2), (2, 1), (2, 2), (2, 3)]);
}

#[tokio::test(start_paused = true)]
async fn nested_calls_multiply() {
    #[retry(max = 1)]
    async fn in_a_retried_function(attempts: &mut u32) -> Result<(), Failure> {
        retrying!(max = 1, async {
            *attempts += 1;
            Err(TRANSIENT)
        })
        .await
    }

    #[retry(max = 1, backoff = "none")]
    fn in_a_blocking_one(attempts: &mut u32) -> Result<(), Failure> {
        retrying!(max = 1, backoff = "none", {
            *attempts += 1;
            Err(TRANSIENT)
        })
    }

    let mut attempts = 0;
    assert_eq!(in_a_retried_function(&mut attempts).await, Err(TRANSIENT));
    assert_eq!(attempts, 4);
    assert_eq!(in_a_blocking_one(&mut attempts), Err(TRANSIENT));
    assert_eq!(attempts, 8);
    let mut attempts = Vec::new();
    let outcome = retrying!(max = 1, name = "outer", attempt = outer, async {
        retrying!(max = 2, name = "inner", attempt = inner, async {
            attempts.push((outer.number(), inner.number()));
            Err::<(), _>(TRANSIENT)
        })
        .await
    });
    assert_eq!(outcome.await, Err(TRANSIENT));
    assert_eq!(attempts, [(1, 1), (1, 2), (1, 3), (2, 1), (2, 2), (2, 3)]);
}

#[tokio::test(start_paused = true)]
async fn return_and_question_marks_end_the_attempt() {
    let mut attempts = 0;
    let outcome = retrying!(async {
        attempts += 1;
        for number in 0.. {
            if number == 2 {
                continue;
            }
            if number > attempts {
                break;
            }
        }
        if attempts == 1 {
            return Err(TRANSIENT);
        }
        if attempts == 2 {
            Err(TRANSIENT)?;
        }
        Ok(attempts)
    });
    assert_eq!(outcome.await, Ok(3));
}

#[tokio::test(start_paused = true)]
async fn no_keys_and_a_last_comma_are_fine() {
    assert_rows! {
        retrying!(async { Ok::<_, Failure>(1) }).await => Ok(1);
        retrying!(async { Ok::<_, Failure>(1) },).await => Ok(1);
        retrying!(max = 5, async { Ok::<_, Failure>(1) },).await => Ok(1);
        retrying!({ Ok::<_, Failure>(1) }) => Ok(1);
        retrying! { max(5), { Ok::<_, Failure>(1) } } => Ok(1);
    }
}
