use retry_runtime::retry;

#[retry(max = 3, on = |_| true)]
#[retry_runtime::retry(max = 5, on = |_| true)]
fn fetch() -> Result<String, String> {
    Ok(String::new())
}

fn main() {
    let _ = fetch();
}
