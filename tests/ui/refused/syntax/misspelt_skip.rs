use retry_runtime::retry;

#[retry(skp)]
async fn complete() -> Result<String, String> {
    Ok(String::from("hello"))
}

fn main() {}
