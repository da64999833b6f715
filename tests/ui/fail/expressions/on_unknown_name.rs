use retry_runtime::retrying;

async fn complete() -> Result<String, std::io::Error> {
    retrying!(on = is_retryable, async { std::fs::read_to_string("answer") }).await
}

fn main() {}
