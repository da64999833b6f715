use retry_runtime::retrying;

async fn complete() -> Result<u32, std::io::Error> {
    retrying!(max = 5, async || { ask().await }).await?;
    retrying!(max = 5, || async { ask().await }).await?;
    retrying!(|| { ask() })
}

fn main() {}
