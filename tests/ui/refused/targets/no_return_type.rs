use retry_runtime::retry;

#[retry(on = |_| true)]
async fn complete() {
    println!("hello");
}

fn main() {}
