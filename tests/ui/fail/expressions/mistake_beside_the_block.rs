use retry_runtime::retrying;

async fn complete() -> Result<String, std::io::Error> {
    retrying!(maxx = 5, async { std::fs::read_to_string("answer") }).await
}

async fn typed() -> Result<String, std::io::Error> {
    retrying!(maxx = 5, async -> Result<_, std::io::Error> { Ok(std::fs::read_to_string("answer")?) })
        .await
}

fn blocking() -> Result<String, std::io::Error> {
    retrying!(timeout = "1s", { std::fs::read_to_string("answer") })
}

async fn without_block() -> Result<String, std::io::Error> {
    retrying!(max = 5).await
}

fn main() {}
