use retry_runtime::retry;

#[retry(fallback = async |gave_up| Err(gave_up.into_error()), on = |_| true)]
fn complete() -> Result<String, String> {
    Ok(String::from("hello"))
}

fn main() {}

#[retry(abort = token.cancelled(), before_pause = async |_, _| (), before_retry = async |_, _| ())]
fn also() -> Result<u32, std::io::Error> {
    Ok(1)
}
