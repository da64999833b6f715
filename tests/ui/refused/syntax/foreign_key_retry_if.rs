use retry_runtime::retry;

#[retry(retry_if = |_| true)]
async fn complete() -> Result<String, String> {
    Ok(String::from("hello"))
}

fn main() {}
