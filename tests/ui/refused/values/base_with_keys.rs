use retry_runtime::retry;

#[retry(base(max = 5), on = |_| true)]
async fn complete() -> Result<String, String> {
    Ok(String::from("hello"))
}

fn main() {}
