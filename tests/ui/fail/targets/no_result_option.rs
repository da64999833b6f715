use retry_runtime::retry;

#[retry(on = |_| true)]
fn complete() -> Option<String> {
    Some(String::from("hello"))
}

fn main() {}
