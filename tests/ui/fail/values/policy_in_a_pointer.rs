use std::io;
use std::sync::LazyLock;

use retry_runtime::{Policy, retry};

static POLICY: LazyLock<Policy> = LazyLock::new(Policy::new);

#[retry(policy = &POLICY)]
async fn lent() -> io::Result<u32> {
    Ok(1)
}

#[retry(policy = Some(Policy::new()))]
async fn optional() -> io::Result<u32> {
    Ok(1)
}

fn main() {}
