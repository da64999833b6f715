//! Destructured arguments, raw identifiers, names that are keywords elsewhere, renamed imports, and names in macros.

use std::cell::Cell;

use retry_runtime as rt;
use retry_runtime::retry;
use retry_runtime::retry as again;

struct Request<'a> {
    attempts: &'a Cell<u32>,
    r#type: u32,
}

#[retry(max = r#async, backoff = "none", on = |_| first + r#type < 9)]
async fn r#match(
    Request { attempts, r#type }: Request<'_>,
    (first, [_, second]): (u32, [u32; 2]),
    r#async: u32,
    _: u32,
) -> Result<u32, u32> {
    attempts.set(attempts.get() + 1);
    Err(attempts.get() + second)
}

#[retry(max = 2, backoff = "none", attempt = r#try, on = |_| true)]
fn r#loop() -> Result<u32, u32> {
    Err(r#try.number())
}

#[again(max = 2, backoff = "none", on = |_| true)]
fn by_another_name(attempts: &Cell<u32>) -> Result<u32, u32> {
    crate::fail(attempts)
}

#[rt::retry(max = 2, backoff = "none", on = |_| true)]
fn by_renamed_crate(attempts: &Cell<u32>) -> Result<u32, u32> {
    crate::fail(attempts)
}

#[::retry_runtime::retry(max = 2, backoff = rt::Backoff::None, on = |_| true)]
fn by_absolute_path(attempts: &Cell<u32>) -> Result<u32, u32> {
    crate::fail(attempts)
}

// A variable from a macro and its caller's variable with the same name stay separate.
macro_rules! client {
    ($name:ident, $argument:ident, $answer:expr) => {
        #[retry(max = 2, backoff = "none", on = |_| $argument == 20)]
        async fn $name(attempts: &Cell<u32>, $argument: u32) -> Result<u32, u32> {
            attempts.set(attempts.get() + 1);
            let answer = 500;
            let call = answer;
            if call > 500 {
                return Ok(call);
            }
            Err($answer + attempts.get())
        }
    };
}

client!(complete, answer, answer);
client!(complete_again, call, call + 100);
client!(complete_once_more, attempts, attempts + 200);

#[tokio::main(flavor = "current_thread")]
pub(crate) async fn main() {
    let attempts = Cell::new(0);
    let request = Request {
        attempts: &attempts,
        r#type: 1,
    };
    assert_eq!(r#match(request, (1, [2, 10]), 2, 0).await, Err(13));
    assert_eq!(r#loop(), Err(3));

    assert_eq!(by_another_name(&Cell::new(0)), Err(3));
    assert_eq!(by_renamed_crate(&Cell::new(0)), Err(3));
    assert_eq!(by_absolute_path(&Cell::new(0)), Err(3));

    let attempts = || Cell::new(0);
    assert_eq!(complete(&attempts(), 20).await, Err(23));
    assert_eq!(complete_again(&attempts(), 20).await, Err(123));
    assert_eq!(complete_once_more(&attempts(), 20).await, Err(223));
    assert_eq!(complete(&attempts(), 21).await, Err(22));
}
