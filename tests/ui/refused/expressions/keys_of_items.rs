use retry_runtime::retrying;

async fn complete() -> Result<u32, std::io::Error> {
    retrying!(wrapper = Retrying, of = other::Model, skip, async { ask().await }).await
}

fn main() {}
