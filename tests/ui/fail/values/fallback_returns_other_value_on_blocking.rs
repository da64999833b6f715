use retry_runtime::retry;

#[retry(fallback = |_| Ok(5), on = |_| true)]
fn complete() -> Result<String, String> {
    Ok(String::from("hello"))
}

fn main() {}
