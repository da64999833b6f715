use retry_runtime::retry;

#[retry(validate = "not empty", on = |_| true)]
async fn complete() -> Result<String, String> {
    Ok(String::from("hello"))
}

fn main() {}
