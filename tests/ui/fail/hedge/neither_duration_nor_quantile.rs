use retry_runtime::retry;

#[retry(hedge = after)]
async fn call(after: u64) -> std::io::Result<u32> {
    Ok(1)
}

fn main() {}
