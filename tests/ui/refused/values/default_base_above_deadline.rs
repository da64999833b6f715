use retry_runtime::retry;

#[retry(deadline = "500ms", jitter = "none", on = |_| true)]
async fn complete() -> Result<String, String> {
    Ok(String::from("hello"))
}

fn main() {}
