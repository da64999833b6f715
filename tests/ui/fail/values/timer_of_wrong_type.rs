use retry_runtime::retry;

fn timer() -> u32 {
    5
}

#[retry(timer = self::timer(), on = |_| true)]
async fn complete() -> Result<String, String> {
    Ok(String::from("hello"))
}

fn main() {}
