use retry_runtime::retry;

#[retry(base = (100), cap = (("1s")), on = |_| true)]
async fn complete() -> Result<String, String> {
    Ok(String::from("hello"))
}

fn main() {}
