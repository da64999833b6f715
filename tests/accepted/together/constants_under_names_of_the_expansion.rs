//! A constant or static with the same name as a local in generated code must not become a pattern there.

#![allow(dead_code, non_upper_case_globals)]

use retry_runtime::retry;

static call: u32 = 1;
const attempt: u32 = 1;
const dropped: u32 = 1;
const error: u32 = 1;
const errors: u32 = 1;
const finished: u32 = 1;
const history: u32 = 1;
const next: u32 = 1;
const observer: u32 = 1;
const one: u32 = 1;
const other: u32 = 1;
const outcome: u32 = 1;
const pause: u32 = 1;
const reason: u32 = 1;
const retried: u32 = 1;
const sleep: u32 = 1;
const timeout: u32 = 1;
const value: u32 = 1;
const verdict: u32 = 1;

#[retry(max = call + pause, backoff = "none", on = |_| true)]
fn blocking() -> Result<u32, u32> {
    Err(call + pause + outcome + value + error + verdict)
}

#[retry(
    max = call + pause,
    base = "1ms",
    timeout = "1s",
    deadline = "1m",
    repeats = 9,
    attempt = number,
    observe = |_| {},
    until = |_| true,
    give_up = |gave_up| std::io::Error::other(gave_up.attempts().to_string()),
    on = |_| true
)]
async fn complete() -> Result<u32, std::io::Error> {
    Err(std::io::Error::other(number.number().to_string()))
}

#[tokio::main(flavor = "current_thread", start_paused = true)]
pub(crate) async fn main() {
    assert_eq!(blocking(), Err(6));
    assert_eq!(complete().await.unwrap_err().to_string(), "3");
}
