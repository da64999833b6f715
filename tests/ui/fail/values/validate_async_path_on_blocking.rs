use retry_runtime::retry;

async fn check(_: &String) -> Result<(), String> {
    Ok(())
}

#[retry(validate = check, on = |_| true)]
fn complete() -> Result<String, String> {
    Ok(String::from("hello"))
}

fn main() {}
