use retry_runtime::retry;

#[retry(on = |_| error.is_empty())]
async fn complete() -> Result<String, String> {
    Ok(String::from("hello"))
}

fn main() {}
