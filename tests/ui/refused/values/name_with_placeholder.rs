use retry_runtime::retry;

#[retry(name = "get {url}")]
async fn get(url: &str) -> std::io::Result<String> {
    Ok(String::from(url))
}

fn main() {}
