//! Destructured arguments, raw identifiers, and names that are keywords elsewhere.

use std::cell::Cell;

use retry_runtime::retry;

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

#[tokio::main(flavor = "current_thread")]
pub(crate) async fn main() {
    let attempts = Cell::new(0);
    let request = Request {
        attempts: &attempts,
        r#type: 1,
    };
    assert_eq!(r#match(request, (1, [2, 10]), 2, 0).await, Err(13));
    assert_eq!(r#loop(), Err(3));
}
