use retry_runtime::retry;

fn check(_: &String) -> Result<(), String> {
    Ok(())
}

async fn correct(_: String, _: &String) -> Result<(), String> {
    Ok(())
}

#[retry(validate = check, correct = correct, on = |_| true)]
async fn path() -> Result<String, String> {
    Ok(String::from("hello"))
}

#[retry(validate = check, correct = async |draft, _| draft, on = |_| true)]
async fn closure() -> Result<String, String> {
    Ok(String::from("hello"))
}

fn main() {}
