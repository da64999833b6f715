use retry_runtime::retry;

#[retry(deadline = "1M", on = |_| true)]
async fn complete() -> Result<String, String> {
    Ok(String::from("hello"))
}

fn main() {}
