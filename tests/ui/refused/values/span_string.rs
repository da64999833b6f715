use retry_runtime::retry;

#[retry(span = "debug", on = |_| true)]
async fn complete() -> Result<String, String> {
    Ok(String::from("hello"))
}

fn main() {}
