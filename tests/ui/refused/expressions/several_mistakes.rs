use retry_runtime::retrying;

async fn complete() -> Result<u32, std::io::Error> {
    retrying!(retries = 5, base = "1 hour", cap = , max = 2, max = 3, async { ask().await }).await
}

fn main() {}
