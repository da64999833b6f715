use retry_runtime::retry;

#[retry(on = |error| error.len())]
async fn complete() -> Result<String, String> {
    Ok(String::from("hello"))
}

fn main() {}
