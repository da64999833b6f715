use retry_runtime::retry;

#[retry(hint = "ignore", max_hint = "10s", on = |_| true)]
async fn complete() -> Result<String, String> {
    Ok(String::from("hello"))
}

fn main() {}
