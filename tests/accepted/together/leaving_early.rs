//! Every way to leave a body ends the attempt, not the call.

use std::cell::Cell;

use retry_runtime::retry;

use crate::fail;

#[retry(max = 2, backoff = "none", on = |_| true)]
async fn question_mark(attempts: &Cell<u32>) -> Result<Vec<u32>, u32> {
    let answers = vec![fail(attempts)?];
    Ok(answers)
}

#[retry(max = 2, backoff = "none", on = |_| true)]
fn question_mark_in_macro(attempts: &Cell<u32>) -> Result<String, u32> {
    Ok(format!("{}", fail(attempts)?))
}

#[retry(max = 2, backoff = "none", on = |_| true)]
fn return_in_loop(attempts: &Cell<u32>) -> Result<u32, u32> {
    'outer: loop {
        for number in 0.. {
            if number == 3 {
                break 'outer;
            }
        }
    }
    loop {
        match fail(attempts) {
            Ok(_) => continue,
            failure => return failure,
        }
    }
}

#[retry(max = 2, backoff = "none", on = |_| true)]
async fn closures_and_blocks(attempts: &Cell<u32>) -> Result<u32, u32> {
    let ignored = || -> Result<u32, u32> { Ok(fail(&Cell::new(0))? + 1) };
    let _ = ignored();
    let inner = async { Ok::<u32, u32>(fail(&Cell::new(0))?) };
    let _ = inner.await;
    fn local(attempts: &Cell<u32>) -> Result<u32, u32> {
        fail(attempts)?;
        unreachable!()
    }
    let answer = local(attempts)?;
    Ok(answer)
}

#[tokio::main(flavor = "current_thread")]
pub(crate) async fn main() {
    let attempts = || Cell::new(0);
    assert_eq!(question_mark(&attempts()).await, Err(3));
    assert_eq!(question_mark_in_macro(&attempts()), Err(3));
    assert_eq!(return_in_loop(&attempts()), Err(3));
    assert_eq!(closures_and_blocks(&attempts()).await, Err(3));
}
