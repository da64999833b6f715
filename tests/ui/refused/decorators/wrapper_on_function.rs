use retry_runtime::retry;

#[retry(wrapper = Retrying, on = |_: &String| true)]
fn complete() -> Result<String, String> {
    Ok(String::new())
}

fn main() {
    let _ = complete();
}
