use retry_runtime::retry;

#[retry(base = "1m", cap = "10s", on = |_| true)]
async fn complete() -> Result<String, String> {
    Ok(String::from("hello"))
}

fn main() {}
