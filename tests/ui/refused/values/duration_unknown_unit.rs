use retry_runtime::retry;

#[retry(base = "250mss", on = |_| true)]
async fn complete() -> Result<String, String> {
    Ok(String::from("hello"))
}

fn main() {}
