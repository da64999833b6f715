use retry_runtime::retry;

#[retry(correct = async |draft, _| Ok(draft), on = |_| true)]
async fn complete() -> Result<String, String> {
    Ok(String::from("hello"))
}

fn main() {}
