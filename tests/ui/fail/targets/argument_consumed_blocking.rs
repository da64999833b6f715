use retry_runtime::retry;

fn send(prompt: String) -> Result<String, String> {
    Ok(prompt)
}

#[retry(on = |_| true)]
fn complete(prompt: String) -> Result<String, String> {
    send(prompt)
}

fn main() {}
