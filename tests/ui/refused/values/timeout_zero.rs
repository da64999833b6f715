use retry_runtime::retry;

#[retry(timeout = "0s", on = |_| true)]
async fn complete() -> Result<String, String> {
    Ok(String::from("hello"))
}

fn main() {}
