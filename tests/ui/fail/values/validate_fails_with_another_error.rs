use retry_runtime::retry;

#[derive(Debug)]
struct ModelError;

fn check(_: &String) -> Result<(), String> {
    Ok(())
}

async fn check_slowly(_: &String) -> Result<(), String> {
    Ok(())
}

#[retry(validate = check, on = |_| true)]
async fn path() -> Result<String, ModelError> {
    Ok(String::from("hello"))
}

#[retry(validate = check_slowly, on = |_| true)]
async fn async_path() -> Result<String, ModelError> {
    Ok(String::from("hello"))
}

#[retry(validate = |answer| check(answer), on = |_| true)]
async fn closure() -> Result<String, ModelError> {
    Ok(String::from("hello"))
}

#[retry(validate = check, on = |_| true)]
fn blocking() -> Result<String, ModelError> {
    Ok(String::from("hello"))
}

fn main() {}
