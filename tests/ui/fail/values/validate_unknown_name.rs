use retry_runtime::retry;

fn check(answer: &String) -> Result<(), String> {
    if answer.is_empty() { Err("empty".into()) } else { Ok(()) }
}

#[retry(validate = chekc, on = |_| true)]
async fn complete() -> Result<String, String> {
    Ok(String::from("hello"))
}

fn main() {
    let _ = check;
}
