use retry_runtime::retry;

#[retry(base = true, on = |_| true)]
async fn complete() -> Result<String, String> {
    Ok(String::from("hello"))
}

fn main() {}
