use retry_runtime::retry;

#[retry(on = |_| true)]
async fn complete() -> String {
    String::from("hello")
}

fn main() {}
