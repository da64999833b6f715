use std::time::Duration;

use retry_runtime::{retry, retrying};
use tokio::time::{error::Elapsed, timeout};

#[retry(on = |_| true)]
async fn in_time() -> Result<Result<u32, String>, Elapsed> {
    timeout(Duration::from_secs(1), fetch()).await
}

#[retry(on = |_| true)]
fn in_a_tuple() -> Result<(u32, std::io::Result<String>), String> {
    Ok((200, read()))
}

#[retry(on = |_| true)]
async fn next() -> Result<Option<Result<u32, String>>, Elapsed> {
    timeout(Duration::from_secs(1), stream().next()).await
}

#[retry(on = |_| true)]
fn of_each_item() -> Result<Vec<Result<u32, String>>, String> {
    Ok(vec![fetch()])
}

#[retry(on = |_| true)]
fn found() -> Result<PagedResult<u32>, String> {
    search()
}

#[retry(on = |_| true, until = |answer| answer.is_ok())]
async fn judged() -> Result<Result<u32, String>, Elapsed> {
    timeout(Duration::from_secs(1), fetch()).await
}

#[retry(on = |_| true)]
fn callable() -> Result<impl Fn() -> Result<u32, String>, String> {
    Ok(fetch)
}

struct Client;

#[retry(on = |_| true)]
impl Client {
    async fn method(&self) -> Result<Result<u32, String>, Elapsed> {
        timeout(Duration::from_secs(1), fetch()).await
    }
}

fn main() {
    let _ = retrying!(on = |_| true, async -> Result<Result<u32, String>, Elapsed> {
        timeout(Duration::from_secs(1), fetch()).await
    });
}
