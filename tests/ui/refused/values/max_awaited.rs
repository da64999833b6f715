use retry_runtime::retry;

async fn limit() -> u32 {
    5
}

#[retry(max = limit().await, on = |_| true)]
async fn complete() -> Result<String, String> {
    Ok(String::from("hello"))
}

fn main() {}
