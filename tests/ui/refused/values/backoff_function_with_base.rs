//! A function computes the delays by itself.

use std::time::Duration;

use retry_runtime::retry;

#[retry(backoff = |retry| Duration::from_secs(retry.into()), base = "1s", factor = 2, on = |_: &String| true)]
fn complete() -> Result<(), String> {
    Ok(())
}

#[retry(throttled(backoff = |retry| Duration::from_secs(retry.into())), on = |_: &String| true)]
fn ask() -> Result<(), String> {
    Ok(())
}

fn main() {}
