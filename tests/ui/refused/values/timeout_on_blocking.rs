use retry_runtime::retry;

#[retry(timeout = "10s", on = |_| true)]
fn complete() -> Result<String, std::io::Error> {
    Ok(String::from("hello"))
}

fn main() {}
