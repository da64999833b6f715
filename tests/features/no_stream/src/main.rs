use retry_runtime::retry;

trait Stream {
    type Item;
}

impl Stream for () {
    type Item = Result<u32, String>;
}

#[retry(stream = "first", on = |_| true)]
fn numbers() -> impl Stream<Item = Result<u32, String>> {}

fn main() {
    let _ = numbers();
}
