//! A variable from a macro and its caller's variable with the same name stay separate.

use std::cell::Cell;

use retry_runtime::retry;

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
    let attempts = || Cell::new(0);
    assert_eq!(complete(&attempts(), 20).await, Err(23));
    assert_eq!(complete_again(&attempts(), 20).await, Err(123));
    assert_eq!(complete_once_more(&attempts(), 20).await, Err(223));
    assert_eq!(complete(&attempts(), 21).await, Err(22));
}
