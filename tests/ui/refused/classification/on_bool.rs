use retry_runtime::retry;

#[retry(on = true)]
async fn complete() -> Result<String, String> {
    Ok(String::from("hello"))
}

fn main() {}
