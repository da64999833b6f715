use retry_runtime::retry;

#[retry(cap = "18446744073709551615s1000000000ns", on = |_| true)]
async fn complete() -> Result<String, String> {
    Ok(String::from("hello"))
}

fn main() {}
