use retry_runtime::retry;

fn is_complete(answer: &String) -> bool {
    answer.ends_with('.')
}

#[retry(validate = is_complete, on = |_| true)]
async fn path() -> Result<String, String> {
    Ok(String::from("hello"))
}

#[retry(validate = |answer| answer.ends_with('.'), on = |_| true)]
async fn closure() -> Result<String, String> {
    Ok(String::from("hello"))
}

#[retry(validate = async |answer| answer.ends_with('.'), on = |_| true)]
async fn async_closure() -> Result<String, String> {
    Ok(String::from("hello"))
}

fn main() {}
