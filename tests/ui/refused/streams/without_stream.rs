use retry_runtime::retry;

#[retry(stream = "buffer", on = |_| true)]
async fn complete() -> Result<String, String> {
    Ok(String::from("hello"))
}

fn main() {}
