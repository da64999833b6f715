use retry_runtime::retrying;

struct ApiError;

async fn ask() -> Result<u32, ApiError> {
    Ok(5)
}

async fn complete() -> Result<u32, ApiError> {
    retrying!(max = 5, async { ask().await }).await
}

async fn named() -> Result<u32, ApiError> {
    retrying!(max = 5, async -> Result<_, ApiError> { ask().await }).await
}

fn main() {}
