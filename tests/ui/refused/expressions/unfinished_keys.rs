use retry_runtime::retrying;

async fn complete() -> Result<u32, std::io::Error> {
    retrying!(breaker = , async { ask().await }).await?;
    retrying!(on = |error| , async { ask().await }).await?;
    retrying!(max = 1 + , async { ask().await }).await
}

fn main() {}
