use retry_runtime::retry;

#[retry(timer = std::thread::sleep, on = |_| true)]
async fn complete() -> Result<String, String> {
    Ok(String::from("hello"))
}

fn main() {}
