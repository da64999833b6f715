use retry_runtime::retry;

#[retry(attempt = a::b, on = |_| true)]
async fn complete() -> Result<String, String> {
    Ok(String::from("hello"))
}

#[retry(attempt = a.b, on = |_| true)]
async fn ask() -> Result<String, String> {
    Ok(String::from("hello"))
}

fn main() {}
