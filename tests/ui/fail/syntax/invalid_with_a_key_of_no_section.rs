use retry_runtime::retry;

#[retry(invalid(max = 2, validate = check), on = |_| true)]
async fn complete() -> Result<String, String> {
    Ok(String::from("hello"))
}

#[retry(invalid(max = -1), on = |_| true)]
async fn negative() -> Result<String, String> {
    Ok(String::from("hello"))
}

fn main() {}
