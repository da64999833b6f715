use retry_runtime::retry;

#[retry(deadline = "500ms", floor = "1s", on = |_| true)]
async fn complete() -> Result<String, String> {
    Ok(String::from("hello"))
}

fn main() {}
