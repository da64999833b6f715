use retry_runtime::retry;

#[retry(max = , base = 250, jiter = "full", on = |_| true)]
async fn complete() -> Result<String, String> {
    Ok(String::from("hello"))
}

fn main() {}
