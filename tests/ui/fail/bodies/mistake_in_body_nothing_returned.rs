use retry_runtime::retry;

#[retry(on = |_| true)]
async fn complete() -> Result<String, String> {
    println!("hello");
}

fn main() {}
