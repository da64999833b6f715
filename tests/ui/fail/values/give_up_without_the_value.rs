use retry_runtime::{GaveUp, retry};

fn check(_: &u32) -> Result<(), String> {
    Ok(())
}

fn explain(gave_up: GaveUp<String>) -> String {
    gave_up.into_error()
}

#[retry(validate = check, give_up = explain, on = |_| true)]
async fn complete() -> Result<u32, String> {
    Ok(7)
}

fn main() {}
