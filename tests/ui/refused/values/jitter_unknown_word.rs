use retry_runtime::retry;

#[retry(jitter = "fulll", on = |_| true)]
async fn complete() -> Result<String, String> {
    Ok(String::from("hello"))
}

fn main() {}
