//! Bodies: `?`, `return`, closures, inner blocks, labels and divergence stay inside the attempt.

use std::process;

use support::prelude::*;

use crate::shapes::{Busy, Flaky, check, check_blocking};

scripted! {
    #[retry(policy = flaky.policy, on = |_| true)]
    async fn question_marks(flaky: &Flaky) -> Result<u32, Busy> = Ok(vec![flaky.answer()?][0]);
    #[retry(policy = flaky.policy, on = |_| true)]
    async fn only_a_question_mark(flaky: &Flaky) -> Result<u32, Busy> = Ok(flaky.answer()?);
    #[retry(policy = flaky.policy, on = |_| true)]
    fn diverges(flaky: &Flaky) -> Result<u32, Busy> = match flaky.answer() {
        Ok(answer) => return Ok(answer),
        Err(error) => return Err(error),
    };
    #[retry(on = |_: &Busy| true)]
    fn loops() -> Result<u32, Busy> = loop {
        if false {
            break Err(Busy(0));
        }
        break Ok(7);
    };
    #[retry(on = |_: &Busy| true)]
    fn unfinished() -> Result<u32, Busy> = unimplemented!();
}

#[retry(policy = flaky.policy, on = |_| true)]
async fn early_return(flaky: &Flaky) -> Result<u32, Busy> {
    let Ok(answer) = flaky.answer() else {
        return Err(Busy(flaky.attempts()));
    };
    if answer > 0 {
        return Ok(answer);
    }
    Err(Busy(0))
}

#[retry(policy = flaky.policy, on = |_| true)]
async fn inner_scopes(flaky: &Flaky) -> Result<u32, Busy> {
    #[derive(Debug)]
    struct Other;

    fn function() -> Result<u32, Other> {
        Err(Other)?
    }

    let closure = || -> Result<u32, Other> {
        if function().is_err() {
            return Ok(1);
        }
        function()
    };
    let block = async {
        let one = closure()?;
        if one == 1 {
            return Ok(one);
        }
        Err(Other)
    };
    assert_eq!(block.await.map_err(|_| Busy(0))?, 1);
    let call = 0;
    let pause = 0;
    let outcome = flaky.answer();
    assert_eq!((call, pause), (0, 0));
    outcome
}

#[retry(policy = flaky.policy, on = |_| true)]
async fn labels(flaky: &Flaky) -> Result<u32, Busy> {
    'outer: loop {
        for number in 0.. {
            if number == 2 {
                continue;
            }
            if number == 4 {
                break 'outer;
            }
        }
    }
    let answer = 'block: {
        if flaky.attempts() > 100 {
            break 'block Err(Busy(0));
        }
        flaky.answer()
    };
    answer
}

#[retry(policy = flaky.policy, on = |_| true)]
async fn glob_imports(flaky: &Flaky) -> Result<u32, Busy> {
    use std::result::Result::*;
    mod names {
        pub(super) const OUTCOME: u32 = 0;
    }
    use names::*;
    assert_eq!(OUTCOME, 0);
    match flaky.answer() {
        Ok(answer) => Ok(answer),
        Err(error) => Err(error),
    }
}

#[retry(policy = flaky.policy, on = |_| true)]
async fn inner_attributes(flaky: &Flaky) -> Result<u32, Busy> {
    #![allow(unused_variables, clippy::no_effect_underscore_binding)]
    let unused = 1;
    flaky.answer()
}

#[retry(on = |_: &Busy| true)]
async fn never_returns(really: bool) -> Result<u32, Busy> {
    if really {
        process::exit(1)
    }
    panic!("as it says")
}

#[tokio::test(start_paused = true)]
async fn control_flow_stays_inside_the_attempt() {
    check!(|flaky| question_marks(flaky).await);
    check!(|flaky| only_a_question_mark(flaky).await);
    check!(|flaky| early_return(flaky).await);
    check!(|flaky| inner_scopes(flaky).await);
    check!(|flaky| labels(flaky).await);
    check!(|flaky| glob_imports(flaky).await);
    check!(|flaky| inner_attributes(flaky).await);
    check_blocking!(|flaky| diverges(flaky));
    assert_eq!(loops(), Ok(7));
}

#[tokio::test]
#[should_panic(expected = "as it says")]
async fn panics_pass_through() {
    let _ = never_returns(false).await;
}

#[test]
#[should_panic(expected = "not implemented")]
fn blocking_panics_pass_through() {
    let _ = unfinished();
}
