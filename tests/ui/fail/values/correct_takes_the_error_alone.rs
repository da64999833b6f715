use retry_runtime::retry;

fn check(_: &String) -> Result<(), String> {
    Ok(())
}

#[retry(validate = check, correct = async |error| Err(error), on = |_| true)]
async fn complete() -> Result<String, String> {
    Ok(String::from("hello"))
}

fn main() {}
