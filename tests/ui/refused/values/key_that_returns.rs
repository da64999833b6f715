use retry_runtime::retry;
use std::time::Duration;

fn limit() -> Result<Duration, String> {
    Ok(Duration::from_secs(1))
}

#[retry(timeout = limit()?, deadline = return Ok(1), max = limit().map_or(3, |_| 5), on = |_| true)]
async fn complete() -> Result<u32, String> {
    Ok(7)
}

#[retry(timeout = limit().map(|limit| limit * 2)?, on = |_| true)]
async fn after_a_closure() -> Result<u32, String> {
    Ok(7)
}

#[retry(backoff = |retry| delay(retry)?, timeout = { let double = |limit| limit * 2; double(SECOND) }, on = |_| true)]
async fn within_a_closure() -> Result<u32, String> {
    Ok(7)
}

fn main() {}
