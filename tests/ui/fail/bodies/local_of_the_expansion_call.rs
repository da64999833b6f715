use retry_runtime::retry;

#[retry(on = |_| true)]
async fn complete() -> Result<String, String> {
    Ok(call.to_string())
}

fn main() {}
