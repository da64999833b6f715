use retry_runtime::retry;

#[retry(on = |_| true)]
async fn complete(prompt: &str) -> Result<String, String> {
    Ok(promt.to_owned())
}

fn main() {}
