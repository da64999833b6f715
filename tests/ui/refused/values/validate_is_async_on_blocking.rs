use retry_runtime::retry;

#[retry(
    validate = async |_| Ok(()),
    correct = async |draft, _| Ok(draft),
    on = |_| true
)]
fn complete() -> Result<String, String> {
    Ok(String::from("hello"))
}

fn main() {}
