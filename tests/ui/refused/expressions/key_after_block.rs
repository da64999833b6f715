use retry_runtime::retrying;

async fn complete() -> Result<u32, std::io::Error> {
    retrying!(async { ask().await }, max = 5).await
}

fn main() {}
