use retry_runtime::retry;

#[retry(on = |_| true)]
enum Model {
    Small,
}

fn main() {}
