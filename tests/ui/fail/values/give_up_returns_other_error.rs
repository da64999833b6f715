use retry_runtime::retry;

#[retry(give_up = |gave_up| gave_up.attempts(), on = |_| true)]
async fn complete() -> Result<String, String> {
    Ok(String::from("hello"))
}

fn main() {}
