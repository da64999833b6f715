use retry_runtime::retrying;

async fn complete(prompt: String) -> Result<String, std::io::Error> {
    retrying!(async { Ok(prompt) }).await
}

async fn owned(prompt: String) -> Result<String, std::io::Error> {
    retrying!(async move { Ok(prompt) }).await
}

fn blocking(prompt: String) -> Result<String, std::io::Error> {
    retrying!({ Ok(prompt) })
}

fn main() {}
